from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """Django's admin console, with `jobs.console.Console` as its site."""

    default_site = "jobs.console.Console"

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        from jobs import alert_admin as alert_admin  # registers its tables
        from jobs import idle_transactions
        from jobs import logins as logins  # listens to logins
        from jobs import people_admin as people_admin
        from jobs import schedule_admin as schedule_admin
        from jobs import state_admin as state_admin
        from jobs import version_admin as version_admin

        idle_transactions.bound()

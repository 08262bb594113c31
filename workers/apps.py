from django.apps import AppConfig


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = "Workers"

    def ready(self) -> None:
        from jobs.signals import work_waiting
        from workers.nudges import on_work_waiting

        work_waiting.connect(on_work_waiting, dispatch_uid="workers.nudges")

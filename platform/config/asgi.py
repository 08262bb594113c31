"""The web process: `uvicorn config.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

from config.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = BodyLimit(get_asgi_application())

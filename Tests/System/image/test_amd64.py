"""The image with bled and jelling-gateway."""
from image.cases import *   # noqa: F403

ARCHITECTURE, ADDED = 'amd64', ['bletool']

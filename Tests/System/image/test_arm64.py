"""The image with ble-gw, the gateway in C."""
from image.cases import *   # noqa: F403

ARCHITECTURE, ADDED = 'arm64', []

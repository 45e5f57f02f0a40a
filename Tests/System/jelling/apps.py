"""Apps in Python (actor.py) that bled launches, stops, wakes and ends; and the device that they hear."""
import json, signal, sys

from jelling.daemon import LIMIT, library
from jelling.lab import Lab

BACKGROUND = ['bluetooth-central', 'bluetooth-peripheral']
CENTRAL = ['bluetooth-central']


def actor(name, wish, modes=BACKGROUND, **more):
    """A manifest whose app does what `wish` says (actor.py)."""
    return {'BundleIdentifier': name, 'UIBackgroundModes': modes, 'command': acting(wish),
            'environment': {'PYTHONPATH': library().name}, **more}


def acting(wish):
    return [sys.executable, '-m', 'jelling.actor', json.dumps(wish)]


def launch(daemon, *names):
    for name in names:
        daemon.operate(foreground=name)


def leave(daemon, *names):
    """To the background, and suspended."""
    for name in names:
        daemon.suspend(name)


def told(daemon, name, event=None, process=None):
    """What an actor has printed, in order."""
    return [line for line in daemon.events() if line.get('app') == name and event in (None, line['event'])
            and process in (None, line['process'])]


def wait_for(daemon, name, event, count=1):
    daemon.wait_for(f'{count} × {event} of {name}', lambda: len(told(daemon, name, event)) >= count)


def sensor(value='0040', seconds=0.2):
    return {'services': [{'uuid': '180D', 'characteristics': [
        {'uuid': '2A37', 'properties': ['read', 'notify'], 'value': value, 'notifyEvery': seconds}]}]}


class Air:
    """Controllers of the simulator: the first for bled, the second for a device that comes and goes."""

    def __init__(self, count=2, profile=None, name='Sensor', comes=False):
        self.count, self.profile, self.name, self.comes = count, profile or sensor(), name, comes

    def __enter__(self):
        self.lab = Lab('simulator', self.count).open(peer=False)
        self.endpoint, self.sensor = self.lab.endpoint, None
        if self.comes:
            self.come()
        return self

    def __exit__(self, *_):
        self.lab.close()

    def come(self):
        self.sensor = self.lab.serving(self.profile, self.name, '--advertise', '180D', via=self.lab.endpoints[1])

    def go(self):
        """It says goodbye: links end."""
        self.sensor.process.send_signal(signal.SIGTERM)
        self.sensor.process.wait(LIMIT)

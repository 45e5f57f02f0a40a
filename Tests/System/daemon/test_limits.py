"""Cases of limits: the memory of a manifest, and values that are none."""
import os

from jelling.apps import acting, actor, launch, told, wait_for
from jelling.daemon import Daemon, Running


def test_memory_limit():
    """an app gets no more memory than its manifest allows, whether it was launched or started elsewhere"""
    wish = {'scan': ['180d'], 'allocate': 400}
    apps = [actor('org.example.free', wish), actor('org.example.small', wish, memoryMegabytes=200),
            {**actor('org.example.own', wish, memoryMegabytes=200), 'command': []}]
    with Daemon(apps=apps) as daemon:
        launch(daemon, 'org.example.free', 'org.example.small')
        wait_for(daemon, 'org.example.free', 'allocated')
        wait_for(daemon, 'org.example.small', 'refused')
        with Running(acting(wish), stdout=daemon.log, stderr=None, env={
                **os.environ, **apps[2]['environment'], 'JELLING_SOCKET': daemon.path, 'JELLING_APP': 'org.example.own'}) as process:
            wait_for(daemon, 'org.example.own', 'refused')
            assert daemon.process_of('org.example.own') == process.pid
        assert not told(daemon, 'org.example.small', 'allocated') and not told(daemon, 'org.example.own', 'allocated')


def test_wrong_limits():
    """manifests with limits that are none are ignored, with the key and what it may be"""
    wrong = {'memoryMegabytes': 0, 'wakeSeconds': 4000, 'memory': 5}
    apps = [{'BundleIdentifier': f'org.example.{key}', key: value} for key, value in wrong.items()]
    apps += [{'BundleIdentifier': 'org.example.unit', 'unit': 'a.service', 'memoryMegabytes': 64}]
    with Daemon(apps=apps) as daemon:
        daemon.wait_for('they are ignored', lambda: daemon.said().count('is ignored') == len(apps))
        for words in '‘memoryMegabytes’ is 4 to', '‘wakeSeconds’ is 1 to 3600, not 4000', '‘memory’', 'MemoryMax=':
            assert words in daemon.said(), (words, daemon.said())
        assert daemon.operate(list={}) == {}

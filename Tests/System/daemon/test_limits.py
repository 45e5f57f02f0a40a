"""Cases of limits: of a manifest (memory, time in the background, pairing), and of what one app may have."""
import os

from jelling.apps import Air, acting, actor, launch, leave, told, wait_for
from jelling.daemon import Daemon, Running, state_of
from jelling.programs import EXAMPLES

OUT_OF_SPACE = ['CBError', 4]


def test_wake_limit():
    """an app that overruns the seconds of its manifest is warned and stopped, the third time ended; its state is kept (appendix B, 23)"""
    name = 'org.example.busy'
    wish = {'restore': 'busy', 'scan': ['180d'], 'connect': {}, 'subscribe': '2a37', 'busy': True}
    with Daemon(apps=[actor(name, wish, wakeSeconds=1)]) as daemon:
        launch(daemon, name)
        wait_for(daemon, name, 'value')
        first = daemon.process_of(name)
        leave(daemon, name)
        for strikes in 1, 2:
            wait_for(daemon, name, 'expiring', strikes)
            assert daemon.operate(list={})[name].strikes == strikes
            daemon.wait_stopped(first)
        daemon.wait_for('it is ended', lambda: state_of(first) == 'Z')
        daemon.wait_for('the next value launches it', lambda: told(daemon, name, 'willRestore'))
        restored, = told(daemon, name, 'willRestore')[0]['peripherals']
        assert restored['notifying'] == 1, restored
        assert daemon.process_of(name) != first


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


SECRET = '6B7A0006-9D1C-4F5E-8A2B-3C4D5E6F7081'
PROTECTED = {'services': [{'uuid': '180D', 'characteristics': [
    {'uuid': SECRET, 'properties': ['read'], 'permissions': ['readEncryptionRequired'], 'value': '5ec2e7'}]}]}


def test_pairing_is_denied():
    """an app whose manifest denies pairing gets the refusal of a protected value; where another app has paired, it gets the value"""
    reader = [os.path.join(EXAMPLES, 'protected-reader'), '180D', SECRET]
    apps = [{'BundleIdentifier': f'org.example.{name}', 'command': reader, 'mayPair': name == 'allowed'}
            for name in ('denied', 'allowed')]
    with Air(profile=PROTECTED, name='Vault', comes=True) as air, Daemon(adapter=air.endpoint, apps=apps) as daemon:
        def run(name):
            daemon.wait_for('the one before has ended', lambda: not any(
                daemon.process_of(f'org.example.{other}') for other in ('denied', 'allowed')))
            before = len(daemon.told('disconnected'))
            launch(daemon, f'org.example.{name}')
            daemon.wait_for(f'the end of {name}', lambda: len(daemon.told('disconnected')) > before)

        run('denied')
        refused, = daemon.told('refused')
        # Insufficient Authentication or Encryption.
        assert refused['code'] in ('5', '15') and not daemon.told('value'), daemon.events()
        run('allowed')
        assert len(daemon.told('value')) == 1, daemon.events()
        run('denied')
        assert len(daemon.told('value')) == 2 and len(daemon.told('refused')) == 1, daemon.events()


def test_limits_of_an_app():
    """an app that publishes services, attributes and channels without end, or asks without end, meets its limits; another has room"""
    service = ['180f', ['2a19', 2, 1]]
    greedy = {
        'services': {'publish': 70 * [service]}, 'attributes': {'publish': [['180f', *(600 * [['2a19', 2, 1]])]]},
        'channels': {'channels': 20}}
    apps = [actor(f'org.example.{name}', wish) for name, wish in greedy.items()]
    apps += [actor('org.example.modest', {'publish': [service], 'channels': 2}),
             actor('org.example.curious', {'scan': ['180d'], 'connect': {}, 'signals': 300})]
    with Daemon(apps=apps) as daemon:
        launch(daemon, *(app['BundleIdentifier'] for app in apps))
        wait_for(daemon, 'org.example.services', 'published', 70)
        wait_for(daemon, 'org.example.attributes', 'published')
        wait_for(daemon, 'org.example.channels', 'channel', 20)
        wait_for(daemon, 'org.example.curious', 'signal', 300)
        errors = lambda name, event: [line['error'] for line in told(daemon, f'org.example.{name}', event)]
        for name, event, limit in ('services', 'published', 64), ('channels', 'channel', 16):
            ends = errors(name, event)
            assert ends.count(None) == limit and ends.count(OUT_OF_SPACE) == len(ends) - limit, (name, ends)
        assert errors('attributes', 'published') == [OUT_OF_SPACE]
        ends = errors('curious', 'signal')
        assert ends.count(None) >= 64 and ends.count(OUT_OF_SPACE) == 300 - ends.count(None) > 0, ends
        assert any('at most 64 services' in line['text'] for line in told(daemon, 'org.example.services', 'log'))
        wait_for(daemon, 'org.example.modest', 'channel', 2)
        assert errors('modest', 'published') + errors('modest', 'channel') == [None] * 3


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

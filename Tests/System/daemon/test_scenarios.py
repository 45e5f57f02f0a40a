"""The scenarios of appendix B that speak of processes, each with real ones: apps in Python (actor.py) that bled launches, stops,
wakes and ends. Documentation/Requirements/Scenarios.md says which case shows which scenario."""
import os, signal

from jelling.apps import CENTRAL, Air, actor, launch, leave, told, wait_for
from jelling.daemon import Client, Daemon, answered, state_of
from jelling.programs import EXAMPLES

ONE, TWO = 'org.example.one', 'org.example.two'
UNKNOWN_DEVICE = ['CBError', 12]


def status(daemon):
    """(what is wanted of the radio, the links, the programs), as the daemon's own status tells it."""
    told = answered(daemon.path, status={}).status
    adapter = told.adapters[0]
    return (list(adapter.wanted), list(adapter.links), list(told.clients))


def reader(air):
    """What `completed` says of a read of the app's value, as often as it is called, by a client of another bled; the client, the link."""
    central = Client(air.lab.bled(air.lab.endpoints[1]))
    central.greeted()
    link = central.connected(central.found(lambda found: b'Door' in found.advertisement + found.scan_response))
    return lambda: central.done(gatt={'link': link, 'read_using_uuid': {
        'uuid': bytes.fromhex('2a19'), 'range': {'first': 1, 'last': 0xFFFF}}}), central, link


def scans(daemon):
    """Whether each app's scan is one in the background, by app; without those that do not scan."""
    return {wanted.client: wanted.scan.is_in_background for wanted in status(daemon)[0] if wanted.HasField('scan')}


def waiting(daemon, name):
    """How many events wait for a connected app."""
    return sum(program.waiting_events for program in status(daemon)[2] if program.name == name)


def test_scenario_2():
    """two scanning apps: one in the foreground gets every packet, one in the background each device once, whatever it asked for"""
    wish = {'scan': ['180d'], 'duplicates': True}
    with Daemon(apps=[actor(name, wish, modes=CENTRAL) for name in (ONE, TWO)]) as daemon:
        launch(daemon, ONE, TWO)
        wait_for(daemon, ONE, 'discovered', 3)
        wait_for(daemon, TWO, 'discovered', 3)
        assert scans(daemon) == {ONE: False, TWO: False}
        leave(daemon, ONE)
        assert scans(daemon) == {ONE: True, TWO: False}
        before = [len(told(daemon, name, 'discovered')) for name in (ONE, TWO)]
        wait_for(daemon, TWO, 'discovered', before[1] + 8)
        # Its scan began again when it left, so it may hear of each device once more.
        devices = {line['peer'] for line in told(daemon, ONE, 'discovered')}
        assert len(told(daemon, ONE, 'discovered')) <= before[0] + len(devices)
        leave(daemon, TWO)
        assert scans(daemon) == {ONE: True, TWO: True}


def test_scenario_3():
    """an app that scans for everything finds nothing in the background; one that names a service is woken for it"""
    apps = [actor(ONE, {'scan': []}, modes=CENTRAL), actor(TWO, {'scan': ['180d']}, modes=CENTRAL)]
    with Air() as air, Daemon(adapter=air.endpoint, apps=apps) as daemon:
        launch(daemon, ONE, TWO)
        daemon.wait_for('both scan', lambda: scans(daemon) == {ONE: False, TWO: False})
        leave(daemon, ONE, TWO)
        assert scans(daemon) == {TWO: True}
        air.come()
        wait_for(daemon, TWO, 'discovered')
        assert not told(daemon, ONE, 'discovered') and state_of(daemon.process_of(ONE)) == 'T'
        daemon.operate(foreground=ONE)
        wait_for(daemon, ONE, 'discovered')


def test_scenario_4_and_5():
    """a suspended app without modes hears nothing, then all of it in order; its alerts go to the app that was in the foreground last"""
    wish = {'scan': ['180d'], 'connect': {f'notifies_on_{what}': True for what in ('connection', 'disconnection', 'notification')}, 'subscribe': '2a37'}
    with Air() as air, Daemon(adapter=air.endpoint, apps=[actor(name, wish, modes=[]) for name in (ONE, TWO)]) as daemon:
        air.come()
        launch(daemon, TWO)
        wait_for(daemon, TWO, 'value')
        launch(daemon, ONE)
        wait_for(daemon, ONE, 'value')
        leave(daemon, TWO, ONE)
        processes = [daemon.process_of(name) for name in (ONE, TWO)]
        daemon.wait_for('both are stopped', lambda: {state_of(process) for process in processes} == {'T'})
        heard = len(told(daemon, ONE)), len(told(daemon, TWO))
        daemon.wait_for('values wait', lambda: min(waiting(daemon, ONE), waiting(daemon, TWO)) >= 3)
        air.go()
        daemon.wait_for('the link ends', lambda: status(daemon)[1] == [])
        assert {state_of(process) for process in processes} == {'T'}, 'woken without a mode'
        assert heard == (len(told(daemon, ONE)), len(told(daemon, TWO)))
        alerts = answered(daemon.path, alerts={}).alerts
        # Disconnection and notification; it was connected while it was in the foreground.
        assert {alert.app for alert in alerts} == {ONE}, alerts
        assert {alert.alert.kind for alert in alerts} == {2, 3}, alerts
        daemon.operate(foreground=ONE)
        wait_for(daemon, ONE, 'disconnected')
        order = [line['event'] for line in told(daemon, ONE)[heard[0]:]]
        assert order[-1] == 'disconnected' and set(order[:-1]) == {'value'} and len(order) >= 4, order
        print(f'{len(order) - 1} values, then the end of the link')


def wait_for_all(daemon, event, count=1):
    for name in ONE, TWO:
        wait_for(daemon, name, event, count)


def test_scenarios_6_to_8():
    """the wish for an absent device outlives the app and bled; without a restore identifier or after a force quit nothing is launched"""
    wish = {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37', 'again': True}
    apps = [actor(ONE, {**wish, 'restore': 'r'}, modes=CENTRAL), actor(TWO, wish, modes=CENTRAL)]
    with Air() as air, Daemon(adapter=air.endpoint, apps=apps) as daemon:
        def wanted():
            return [one.client for one in status(daemon)[0] if one.HasField('connect')]

        air.come()
        launch(daemon, ONE, TWO)
        wait_for_all(daemon, 'value')
        air.go()
        daemon.wait_for('both want it back', lambda: sorted(wanted()) == [ONE, TWO])
        # Both run: the wish has no end.
        air.come()
        wait_for_all(daemon, 'connected', 2)
        air.go()
        daemon.wait_for('both want it back', lambda: sorted(wanted()) == [ONE, TWO])
        leave(daemon, ONE, TWO)
        for name in ONE, TWO:
            daemon.kill_app(name)
        daemon.wait_for('nothing is kept for the one without identifier', lambda: wanted() == [ONE])
        air.come()
        launches(daemon, 1)
        leave(daemon, ONE)
        # The same across a bled that is killed, as by a restart of the machine.
        air.go()
        daemon.wait_for('it wants it back', lambda: wanted() == [ONE])
        process = daemon.process_of(ONE)
        daemon.kill()
        os.kill(process, signal.SIGKILL)
        daemon.start_again()
        daemon.wait_for('it waits again', lambda: wanted() == [ONE])
        assert not daemon.process_of(ONE)
        air.come()
        launches(daemon, 2)
        daemon.operate(quit=ONE)
        assert wanted() == [] and status(daemon)[1] == [], 'something of it goes on'
        assert len(told(daemon, TWO, 'began')) == 1, 'launched without a restore identifier'


def launches(daemon, count):
    """The app was launched for its manager, and told in the order of Apple's system."""
    daemon.wait_for('it is launched', lambda: len(told(daemon, ONE, 'began')) > count and daemon.process_of(ONE))
    process = daemon.process_of(ONE)
    daemon.wait_for('it is connected', lambda: told(daemon, ONE, 'connected', process))
    lines = told(daemon, ONE, process=process)
    # The restored scan may hear the device before the controller connects to it.
    order = [line['event'] for line in lines if line['event'] not in ('log', 'discovered')][:4]
    assert order == ['began', 'willRestore', 'state', 'connected'], order
    assert lines[0]['launch'] == ['r'] and len(lines[1]['peripherals']) == 1, lines[:2]


def test_scenario_9():
    """what is restored: the peripheral with its services and subscription, the scan with its options; the app discovers nothing again"""
    wish = {'restore': 'r', 'scan': ['180d', '180f'], 'duplicates': True, 'connect': {}, 'subscribe': '2a37'}
    with Daemon(apps=[actor(ONE, wish, modes=CENTRAL)]) as daemon:
        launch(daemon, ONE)
        wait_for(daemon, ONE, 'value')
        first = daemon.process_of(ONE)
        os.kill(first, signal.SIGKILL)
        second = daemon.wait_launched(ONE, first)
        daemon.wait_for('a value', lambda: told(daemon, ONE, 'value', second))
        restored, = told(daemon, ONE, 'willRestore', second)
        peripheral, = restored['peripherals']
        assert '180d' in peripheral['services'] and peripheral['notifying'] == 1 and peripheral['state'] == 2, restored
        assert restored['scan'] == ['180d', '180f'] and restored['duplicates'], restored
        assert not told(daemon, ONE, 'notifying', second), 'it subscribed again'


def test_scenario_10():
    """two apps on one link: the first that lets go is told so alone; when the second does, the peripheral sees the end, with 0x13"""
    wish = {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'}
    with Air() as air, Daemon(adapter=air.endpoint, apps=[actor(name, wish) for name in (ONE, TWO)]) as daemon:
        air.come()
        launch(daemon, ONE, TWO)
        wait_for_all(daemon, 'value')
        ended = lambda: air.sensor.events('disconnected')
        os.kill(daemon.process_of(ONE), signal.SIGUSR1)
        wait_for(daemon, ONE, 'disconnected')
        assert told(daemon, ONE, 'disconnected')[0]['error'] is None
        values = len(told(daemon, TWO, 'value'))
        wait_for(daemon, TWO, 'value', values + 3)
        assert not ended() and not told(daemon, TWO, 'disconnected')
        os.kill(daemon.process_of(TWO), signal.SIGUSR1)
        wait_for(daemon, TWO, 'disconnected')
        assert told(daemon, TWO, 'disconnected')[0]['error'] is None
        air.sensor.wait_event('disconnected')
        assert 'remote user' in ended()[0]['reason'].lower(), ended()


def test_scenario_26():
    """the services of an app that is suspended without the mode can be discovered, and their values give an error, until it is back"""
    wish = {'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door'}
    with Air() as air, Daemon(adapter=air.endpoint, apps=[actor(ONE, wish, modes=[])]) as daemon:
        launch(daemon, ONE)
        wait_for(daemon, ONE, 'advertising')
        read, central, link = reader(air)
        assert b'here' in read().attribute_values.values[0].value
        leave(daemon, ONE)
        daemon.wait_stopped(daemon.process_of(ONE))
        reads = len(told(daemon, ONE, 'read'))
        services = central.done(gatt={'link': link, 'discover_services': {'uuids': [bytes.fromhex('180f')]}})
        assert services.HasField('services') and services.services, services
        assert read().HasField('failure'), 'a value without the app'
        assert len(told(daemon, ONE, 'read')) == reads
        daemon.operate(foreground=ONE)
        assert b'here' in read().attribute_values.values[0].value


def test_scenario_27():
    """each app has identifiers of its own for the same device; another's is unknown to it"""
    with Daemon(apps=[actor(name, {'scan': ['180d']}) for name in (ONE, TWO)]) as daemon:
        launch(daemon, ONE, TWO)
        peers = []
        for name in ONE, TWO:
            wait_for(daemon, name, 'discovered')
            peers.append(told(daemon, name, 'discovered')[0]['peer'])
        assert peers[0] != peers[1], peers
        stranger = {'try': peers[0]}
        daemon.install(actor('org.example.three', stranger))
        daemon.operate(reload={})
        launch(daemon, 'org.example.three')
        wait_for(daemon, 'org.example.three', 'failed')
        assert told(daemon, 'org.example.three', 'failed')[0]['error'] == UNKNOWN_DEVICE
        assert not told(daemon, 'org.example.three', 'connected')


def test_five_programs():
    """five programs in both roles at once: Core Bluetooth's relay, two apps in Python and two of bletool; a central finds all that is served"""
    apps = [{'BundleIdentifier': 'org.example.relay', 'command': [os.path.join(EXAMPLES, 'heart-rate-relay')],
             'UIBackgroundModes': CENTRAL + ['bluetooth-peripheral']},
            actor('org.example.follower', {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'}),
            actor('org.example.door', {'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door', 'services': ['180f']})]
    profile = {'services': [{'uuid': 'FFF0', 'characteristics': [
        {'uuid': 'FFF1', 'properties': ['read'], 'permissions': ['readable'], 'value': '6c616d70'}]}]}
    with Air(3) as air, Daemon(adapter=air.endpoint, apps=apps) as daemon:
        air.come()
        lamp = air.lab.start('serve', '--profile', air.lab.profile(profile), '--name', 'Lamp', via=f'bled:{daemon.path}')
        launch(daemon, *(app['BundleIdentifier'] for app in apps))
        subscriber = air.lab.start('gatt', 'Sensor', 'subscribe', '2A37', via=f'bled:{daemon.path}')
        daemon.wait_told('beat', 3)
        wait_for(daemon, 'org.example.follower', 'value', 3)
        subscriber.wait_for(lambda line: line.get('value') == '0040', 'values of bletool', count=3)
        wait_for(daemon, 'org.example.door', 'advertising')
        lamp.wait_event('advertising')
        # By the service that the door advertises.
        found = air.lab.run('lescan', '--service', '180F', '--count', '1', '--duration', '60', via=air.lab.endpoints[2])
        address = found.events('discovered')[0]['address']
        read = air.lab.run('gatt', address, 'read', '2A19', 'FFF1', '7C7D0002-5B0E-4C63-9C0B-5C2D0D3C9A11',
                           via=air.lab.endpoints[2])
        values = [line.get('value') for line in read.lines]
        assert '68657265' in values and '6c616d70' in values and any((value or '').startswith('00') for value in values), values
        holders = [link for link in status(daemon)[1] if len(link.holders) >= 3]
        assert holders, status(daemon)[1]

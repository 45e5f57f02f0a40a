"""What brings a peripheral app back (SPEC SPR-31), with Bumble as the central that reads; and Bluetooth that is switched off and on."""
import json, signal

from jelling import lab as bench
from jelling.apps import CENTRAL, Air, actor, launch, leave, told, wait_for
from jelling.daemon import LIMIT, RELAY, Daemon, bletool, relay_manifest, state_of
from daemon import test_scenarios as scenarios

DOOR, WAITER = 'org.example.door', 'org.example.waiter'
# Bumble's, from Tools/peers/peer_peripheral.py.
SENSOR = 'F2:F1:F0:00:00:02'
# One characteristic whose value the app is asked for.
PUBLISHES = {'restore': 'door', 'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door', 'services': ['180f']}


class Reader:
    """Bumble, connected to the app's service."""

    def __init__(self, lab, number=1):
        self.child = lab.bumble('reading_central', lab.endpoints[number], is_ready=False)
        self.counts = {}
        self.next('connected')

    def next(self, *names):
        """The next line with one of these events."""
        seen = self.counts.get(names, 0)
        self.counts[names] = seen + 1
        return self.child.wait_for(lambda line: line.get('event') in names, ' or '.join(names), LIMIT, seen + 1)[-1]

    def ask(self):
        self.child.process.send_signal(signal.SIGUSR1)

    def read(self):
        """The value, or why there is none."""
        self.ask()
        return self.answer()

    def answer(self):
        line = self.next('value', 'refused')
        return bytes.fromhex(line['value']) if 'value' in line else line['reason']

    def connect_again(self):
        self.child.process.send_signal(signal.SIGUSR2)
        self.next('connected')


def launched_for_a_read(daemon, earlier, reader):
    """A process that began for the read, was restored, and answered it; its number."""
    value = reader.read()
    process = daemon.process_of(DOOR)
    lines = [line for line in told(daemon, DOOR, process=process) if line['event'] != 'log']
    assert value == b'here' and process not in (0, *earlier), (value, process, lines)
    began, restored = lines[:2]
    assert [line['event'] for line in lines] == ['began', 'willRestore', 'state', 'read'], lines
    assert began['launch'] == ['door'] and began['environment'] == {'CB_LAUNCH_PERIPHERALS': 'door'}, began
    assert (restored['services'], restored['name'], restored['advertised']) == (['180f'], 'Door', ['180f']), restored
    return process


def peripheral_is_launched(kind):
    with bench.Lab(kind, 2).open(peer=False) as lab, Daemon(adapter=lab.endpoint, apps=[actor(DOOR, PUBLISHES)]) as daemon:
        launch(daemon, DOOR)
        wait_for(daemon, DOOR, 'advertising')
        reader = Reader(lab)
        assert reader.read() == b'here'
        first = daemon.process_of(DOOR)
        # Suspended: the read resumes it (SPEC BGP-1).
        leave(daemon, DOOR)
        daemon.wait_stopped(first)
        assert reader.read() == b'here' and daemon.process_of(DOOR) == first
        leave(daemon, DOOR)
        daemon.wait_stopped(first)
        # Killed while it is suspended. Nothing but the read launches it.
        daemon.kill_app(DOOR)
        second = launched_for_a_read(daemon, [first], reader)
        assert reader.read() == b'here', 'the second read'
        # Memory is short. It is advertised without the app: the central connects again, and reads.
        leave(daemon, DOOR)
        daemon.wait_stopped(second)
        daemon.press()
        daemon.wait_for('it is ended', lambda: daemon.process_of(DOOR) == 0)
        reader.connect_again()
        assert daemon.process_of(DOOR) == 0, 'launched for a connection'
        third = launched_for_a_read(daemon, [first, second], reader)
        # By force: nothing of it is left (SPEC SPR-30).
        daemon.operate(quit=DOOR)
        daemon.wait_for('it is gone', lambda: state_of(third) == 'Z')
        answer = reader.read()
        assert isinstance(answer, str) and len(told(daemon, DOOR, 'began')) == 3, (answer, told(daemon, DOOR))
        return f'process {first} → {second} → {third}; after the force quit: {answer}'


def test_peripheral_is_launched_for_a_read():
    """an app that advertises is ended while it is suspended, by a kill and by memory pressure: Bumble's read launches it, restored, and it answers"""
    print(peripheral_is_launched('bumble'))


def test_peripheral_is_launched_for_a_read_over_btvirt():
    """the same over BlueZ's controllers: a read launches the peripheral app, restored, with CB_LAUNCH_PERIPHERALS, and it answers"""
    print(peripheral_is_launched('btvirt'))


# As CBManagerState.
OFF, ON = 4, 5


def switch(daemon, word):
    line, = daemon.lines('power', word)
    assert (line['event'], line['index'], line['up']) == ('power', None, word == 'on'), line


def adapter(daemon):
    """What `status` tells of the adapter."""
    return daemon.status()['adapters'][0]


def power(kind):
    with bench.Lab(kind, 4).open(peer=False) as lab:
        lab.every_link_ends_by_us = False
        lab.start_peer('--hr-interval', '0.1')
        absent = {'restore': 'waiter', 'scan': ['fff0'], 'connect': {}}
        apps = [relay_manifest(), actor(DOOR, PUBLISHES), actor(WAITER, absent, modes=CENTRAL)]
        with Daemon(adapter=lab.endpoint, apps=apps) as daemon:
            states = lambda role: [line['state'] for line in daemon.told('state') if line.get('role') == role]
            launch(daemon, RELAY)
            daemon.wait_told('beat', 2)
            launch(daemon, DOOR, WAITER)
            wait_for(daemon, DOOR, 'advertising')
            wait_for(daemon, WAITER, 'state')
            processes = {name: daemon.process_of(name) for name in (RELAY, DOOR, WAITER)}
            reader = Reader(lab, 2)
            assert reader.read() == b'here'
            for round in 1, 2:
                tool = lab.start('gatt', f'{SENSOR}/random', 'subscribe', '2A37', via=f'bled:{daemon.path}')
                scan = lab.start('lescan', '--service', 'FFF0', '--service', '180F', via=f'bled:{daemon.path}')
                tool.wait_event('notified')
                daemon.wait_for('bletool scans', lambda: any('scan' in json.dumps(wish) and 'bletool' in wish['client']
                                                             for wish in adapter(daemon)['wanted']))
                switch(daemon, 'off')
                daemon.wait_for('all are told', lambda: states('central').count('poweredOff') == round and
                                states('peripheral').count('poweredOff') == round and all(
                                    [line['state'] for line in told(daemon, name, 'state')].count(OFF) == round
                                    for name in (DOOR, WAITER)))
                # Both ends of each link, and the tool.
                if round == 1:
                    reader.next('disconnected')
                lab.wait_peer('disconnected', round)
                assert tool.process.wait(LIMIT) == 1, tool.stderr()
                tool.reader.join(LIMIT)
                assert tool.lines[-1].get('code') == 'linkLost', (tool.lines, tool.stderr())
                assert scan.process.wait(LIMIT) == 1 and 'Bluetooth is off' in scan.stderr(), (scan.lines, scan.stderr())
                daemon.wait_for('the radio rests', lambda: adapter(daemon)['links'] == [])
                status = adapter(daemon)
                assert not status['ready'] and 'Bluetooth is off' in status['trouble'] and not status['advertising'], status
                code, _, said = bletool(f'bled:{daemon.path}', 'lescan', '--duration', '1')
                assert code != 0 and 'Bluetooth is off' in said, (code, said)
                # Twice is once.
                switch(daemon, 'off')
                beats = len(daemon.told('beat'))
                heard = lab.run('lescan', '--name', 'Door', '--count', '1', '--duration', '1', status=None, via=lab.endpoints[3])
                assert not heard.events('discovered'), 'it advertises while Bluetooth is off'
                assert len(daemon.told('beat')) == beats
                if round == 2:
                    # Off and on at once, while the engine still starts or stops.
                    for word in ('on', 'off') * 3:
                        switch(daemon, word)
                switch(daemon, 'on')
                daemon.wait_for('all are told', lambda: all(
                    [line['state'] for line in told(daemon, name, 'state')][-1] == ON for name in (DOOR, WAITER)))
                daemon.wait_for('beats go on', lambda: len(daemon.told('beat')) > beats + 1)
                # What was published is still published and advertised: the app did nothing for it.
                daemon.wait_for('the central reads', lambda: reader.read() == b'here')
                if round == 1:
                    assert states('central') == states('peripheral') == ['poweredOn', 'poweredOff', 'poweredOn'], daemon.told('state')
                    for name in DOOR, WAITER:
                        assert [line['state'] for line in told(daemon, name, 'state')] == [ON, OFF, ON], told(daemon, name)
            assert set(states('central')) == {'poweredOn', 'poweredOff'}, states('central')
            assert [name for name in processes if daemon.process_of(name) != processes[name]] == []
            assert len(told(daemon, DOOR, 'published')) == 1 and len(told(daemon, DOOR, 'advertising')) == 1
            # Its scan ended with Bluetooth, and it scans again.
            lab.start('advertise', '--name', 'Lamp', '--service', 'FFF0', via=lab.endpoints[3])
            wait_for(daemon, WAITER, 'discovered')
            return f'{len(daemon.told("beat"))} beats, {len(states("central"))} states'


def test_power_off_and_on():
    """bletool power off and on through bled: apps of Core Bluetooth and in Python become poweredOff, then poweredOn, and go on; tools end"""
    print(power('bumble'))


def test_switched_while_preserved():
    """SPR-30: an app that does not run when Bluetooth is switched off and on is not launched for what it waits for, until somebody does, or bled begins again"""
    one = scenarios.ONE
    wish = {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37', 'again': True, 'restore': 'r'}
    with Air() as air, Daemon(adapter=air.endpoint, apps=[actor(one, wish, modes=CENTRAL)]) as daemon:
        wanted = lambda: [wish.client for wish in scenarios.status(daemon)[0] if wish.HasField('connect')]

        def wait_and_die():
            """The app waits for the sensor, which is away, and is killed."""
            air.go()
            daemon.wait_for('it wants it back', lambda: wanted() == [one])
            leave(daemon, one)
            daemon.kill_app(one)

        air.come()
        launch(daemon, one)
        wait_for(daemon, one, 'value')
        wait_and_die()
        switch(daemon, 'off')
        daemon.wait_for('the controller is released', lambda: not adapter(daemon)['ready'] and wanted() == [])
        switch(daemon, 'on')
        # What it waits for is kept, and carried out; only the launch is missing.
        daemon.wait_for('it waits again', lambda: wanted() == [one])
        air.come()
        daemon.wait_for('the link is there', lambda: len(scenarios.status(daemon)[1]) == 1)
        assert not daemon.process_of(one) and len(told(daemon, one, 'began')) == 1, 'launched after the switch'
        # Somebody launches it: it is restored, and hears of the connection.
        launch(daemon, one)
        daemon.wait_for('it is connected', lambda: len(told(daemon, one, 'connected')) == 2)
        # The scan that was preserved goes on, too.
        order = [line['event'] for line in told(daemon, one, process=daemon.process_of(one))
                 if line['event'] not in ('log', 'discovered')][:4]
        assert order == ['began', 'willRestore', 'state', 'connected'], order
        # A restart, as of the machine, ends the rule: off and on before it, and Bluetooth is on after it.
        wait_and_die()
        switch(daemon, 'off')
        daemon.kill()
        daemon.start_again()
        daemon.wait_for('it waits again', lambda: wanted() == [one])
        assert not daemon.process_of(one)
        air.come()
        daemon.wait_for('it is launched', lambda: len(told(daemon, one, 'began')) == 3)
        assert told(daemon, one, 'began')[2]['environment'] == {'CB_LAUNCH_CENTRALS': 'r'}
        print('switched in the settings: not launched; restarted: launched')

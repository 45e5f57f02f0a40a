"""The desk of Tests/System/bluez in the guest: BlueZ's daemon or ours on hci0, and Bumble's peer on hci1, on one air and one bus."""
import os, pathlib, shutil, sys, time

from jelling import bluez
from jelling.child import wait_until
from jelling.forks import Fork
from kernel.harness import is_free, shell

LIMIT = 120     # seconds: ends what hangs
CONTROLLERS, BLED, BLED_BLUEZ, DAEMON = '/tmp/simulated-controllers', '/tmp/bled', '/tmp/bled-bluez', '/usr/libexec/bluetooth/bluetoothd'
PEER_SCRIPTS, STATE = '/host/Tools/peers', '/var/lib/bluetooth'
HOSTS = ['bluetoothd', 'ours']


class Desk(bluez.Desk):
    """With `bluetoothd`, or with `bled` and `bled-bluez`. The bus, the air and the peer stay when the host changes."""

    def __init__(self, scenario):
        super().__init__('simulator')
        self.bus_address = f'unix:path={self.path("bus")}'
        os.environ['DBUS_SYSTEM_BUS_ADDRESS'] = self.bus_address
        pathlib.Path(self.path('bus.conf')).write_text(bluez.BUS.format(path=self.path('bus')))
        self.start_bus()
        pathlib.Path(self.path('scenario.json')).write_text(scenario)
        self.controllers = self.spawn('simulated-controllers', [CONTROLLERS, '--vhci', '--vhci', self.path('scenario.json')])
        ready = self.controllers.wait_for(lambda line: 'endpoints' in line, 'READY')[0]
        assert ready['endpoints'] == ['hci0', 'hci1'], ready
        self.lab_address = ready['addresses'][0].removesuffix('/P') + '/P'
        self.endpoints = self.endpoint, self.peer_endpoint = ['user:0', 'hci-socket:1']
        for index in 0, 1:
            wait_until(lambda: os.path.exists(f'/sys/class/bluetooth/hci{index}') and is_free(index), f'hci{index} is set up', LIMIT)
        self.host, self.running, self.monitor = None, [], None
        # Whether the peer is another one than most scripts want.
        self.is_special = False

    def bumble(self, name, *arguments, is_ready=True):
        child = self.spawn(f'{name}.py {" ".join(arguments)}', [sys.executable, f'{PEER_SCRIPTS}/{name}.py', *arguments],
                           start=Fork)
        if is_ready:
            child.wait_for(lambda line: line.get('ev') == 'ready', 'ready', LIMIT)
        return child

    def start_peer(self, *arguments):
        self.end_peer()
        self.is_special = bool(arguments)
        return super().start_peer(*arguments)

    def end_peer(self):
        if self.peer:
            self.peer.end()
        self.peer = None

    def has_peer(self, is_wanted):
        """A peripheral as the scripts know it, or none: then its controller is free."""
        if not is_wanted:
            self.end_peer()
        elif not self.peer or self.is_special or self.peer.process.poll() is not None:
            self.start_peer()

    def start_host(self, host):
        """As after installation: it knows no device."""
        if host == 'bluetoothd':
            shutil.rmtree(STATE, ignore_errors=True)
            os.makedirs(STATE)
            # Monitors are experimental there.
            self.running = [self.spawn('bluetoothd', [DAEMON, '--nodetach', '--experimental'])]
        else:
            for state in 'host', 'door':
                shutil.rmtree(self.path(state), ignore_errors=True)
            socket = self.path('bled.sock')
            self.running = [self.spawn('bled', [BLED, '--adapter', 'user:0', '--socket', socket, '--state', self.path('host')]),
                            self.spawn('bled-bluez', [BLED_BLUEZ, '--state', self.path('door'), '--bled', socket])]
        self.host, self.door = host, self.running[-1]
        # BlueZ powers a new adapter by itself.
        wait_until(lambda: 'b true' in self.busctl('get-property', 'org.bluez', bluez.HCI0, bluez.ADAPTER, 'Powered').stdout,
                   lambda: f'the adapter of {host}: {self.door.stderr()[-600:]}', LIMIT)

    def stop_host(self):
        for child in reversed(self.running):
            child.end()
        self.running = []
        shell('hciconfig hci0 down', False)
        wait_until(lambda: is_free(0), 'hci0 is free', LIMIT)

    def record(self):
        """From now on what crosses the bus is noted."""
        self.monitor = self.spawn('busctl', ['busctl', '--json=short', f'--address={self.bus_address}', 'monitor'])

        def is_heard():
            self.busctl('status', 'org.bluez')
            return self.monitor.lines
        wait_until(is_heard, 'the monitor hears', LIMIT)

    def recorded(self):
        """The messages, and the unique name of the owner of `org.bluez`."""
        owner = self.busctl('--json=short', 'call', 'org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus',
                            'GetNameOwner', 's', 'org.bluez').stdout
        # The answer has passed the monitor, too; with it everything before.
        wait_until(lambda: 'GetNameOwner' in str(self.monitor.lines[-20:]), 'the end of the record', LIMIT)
        time.sleep(0.2)
        self.monitor.end()
        return self.monitor.lines, owner.split('"')[-2]

    def go(self, work, limit=LIMIT):
        return super().go(work, limit)

    def check_end(self):
        for child in self.running:
            assert child.is_ended or child.process.poll() is None, f'{child.name} has ended: {child.stderr()[-800:]}'

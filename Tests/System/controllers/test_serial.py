"""Controllers on serial ports: the tool with `uart:`, H4 and the three-wire transport (H5), on pseudo-terminals. The simulator's end of
the three-wire transport is the project's own; jelling/lines.py has another one, with one of Bumble's controllers behind."""
import os, sys

from pytest import mark

from jelling.lab import PEER_ADDRESS, Lab
from jelling.lines import Line
from jelling.programs import CONTROLLERS, LIBRARY, PEER_SCRIPTS, PYTHON

PEER, NAME = PEER_ADDRESS + '/random', 'BumblePeer'
CONTROL, STREAM = (f'6B7A{number:04X}-9D1C-4F5E-8A2B-3C4D5E6F7081' for number in (8, 9))


class Port(Lab):
    """A controller on a serial port at `port`, and Bumble's peer on another controller of the same air."""

    def __init__(self, framing, is_foreign=False):
        super().__init__('simulator')
        self.tool_options, self.port, self.framing = [], self.path('port'), framing
        try:
            peers, behind = f'unix:{self.dir}/hci1', f'unix:{self.dir}/hci0'
            own = behind if is_foreign else f'pty:{self.port}' + (',h5' if framing == 'h5' else '')
            # Packets of the shortest length that a link has: a longer one hardly passes a bad line.
            options = ['--acl-len', '27', '--acl-num', '4']
            program = [PYTHON, f'{PEER_SCRIPTS}/controllers.py'] if is_foreign else [CONTROLLERS]
            self.spawn('controllers', [*program, own, peers, *options]).wait_for(lambda line: 'endpoints' in line, 'READY')
            if is_foreign:
                bridge = self.spawn('lines.py', [sys.executable, f'{LIBRARY}/lines.py', self.port, behind])
                bridge.wait_for(lambda line: 'port' in line, 'READY')
            self.peer_endpoint = peers
            self.start_peer()
            self.at(self.port)
        except BaseException:
            self.close()
            raise

    def at(self, device):
        self.endpoint = f'uart:{device}@115200' + (',h5' if self.framing == 'h5' else '')


@mark.parametrize('framing', ['h4', 'h5'])
def test_a_serial_port(framing):
    """`-t uart:DEVICE@BAUD` and `,h5`: the tool names the controller, finds the peer, and discovers, reads and is notified"""
    with Port(framing) as bench:
        info, = bench.run('info').events('controller')
        assert info['address'] == '00:AA:01:00:00:01', info
        found = bench.run('lescan', '--count', '1', '--duration', '60', '--name', NAME)
        assert [e['address'] for e in found.events('discovered')] == [PEER_ADDRESS], found.describe()
        read = bench.gatt('read', '2A38', peer=PEER)
        assert [e['value'] for e in read.events('value')] == ['01'], read.describe()
        assert len(bench.gatt('subscribe', '2A37', '--count', '3', peer=PEER).events('notified')) == 3
        # A port that is in use is refused, with its holder.
        holder = bench.start('lescan', '--duplicates', '--duration', '600')
        holder.wait_event('discovered')
        refused = bench.run('info', status=3)
        assert 'bletool' in refused.describe() and str(holder.process.pid) in refused.describe(), refused.describe()
        bench.stop(holder)


@mark.parametrize('is_foreign', [False, True], ids=['simulator', 'foreign'])
def test_a_bad_line(is_foreign):
    """On a line that loses 5 % of the octets in both directions, the three-wire transport loses, doubles and exchanges nothing: the tool
    starts the controller, connects and reads, and all of a stream of notifications arrives in order"""
    size, count = 12, 60
    with Port('h5', is_foreign) as bench, Line(bench.port, per_thousand=50) as line:
        bench.at(line.device)
        stream = bench.script(
            f'subscribe {STREAM}', f'write {CONTROL} 01{(size * count).to_bytes(4, "little").hex()}{size.to_bytes(2, "little").hex()}',
            f'wait --count {count} --duration 300')
        run = bench.gatt('script', stream, peer=PEER, timeout=600)
        values = [bytes.fromhex(e['value']) for e in run.events('notified') if e['uuid'] == STREAM]
        assert [int.from_bytes(value[:4], 'little') for value in values] == list(range(count)), run.describe()
        assert all(len(value) == size for value in values)
        print(f'{line}; none of {count} values')
        assert 0.04 * line.octets < line.hurt < 0.06 * line.octets, line

"""`bletool bench` with Bumble's own `bumble-bench` as the peer, in both roles, over GATT and over channels."""
import os

from pytest import mark

from jelling.child import PATIENCE, Child, Failure, wait_until
from jelling.programs import PYTHON

KINDS = ('bumble', 'btvirt')
PERIPHERAL = 'F1:F1:F1:F1:F1:F1/random'


class Bench(Child):
    """bumble-bench, which logs what it sees instead of printing JSON."""

    def __init__(self, lab, transport, role, *options, address=None):
        lab.number += 1
        transport = transport.replace('tcp:', 'tcp-client:', 1).replace('unix:', 'unix-client:', 1)
        super().__init__(f'bumble-bench {role}', [
            PYTHON, '-m', 'bumble.apps.bench', *options, '-sd', '1', role, *(['--peripheral', address] if address else []), transport],
            lab.path(f'bench{lab.number}.err'), {**os.environ, 'HOME': lab.dir, 'BUMBLE_LOGLEVEL': 'INFO', 'NO_COLOR': '1'})
        lab.children.append(self)

    def wait_text(self, text, timeout=2 * PATIENCE):
        seen = lambda: self.stderr() + '\n'.join(self.strays)
        wait_until(lambda: text in seen() or not self.reader.is_alive(), lambda: f'{self.name}: {text!r}: {seen()[-600:]}', timeout)
        if text not in seen():
            raise Failure(f'{self.name}: no {text!r}; it said {seen()[-600:]}')


def result(run, scenario, role, bearer, packets):
    found = run.events('bench')
    assert [(b['scenario'], b['role'], b['bearer'], b['packets'], b['lost']) for b in found] == [(scenario, role, bearer, packets, 0)]
    assert found[0]['bytesPerSecond'] > 0, f'no rate: {found}'
    return found[0]


def central(lab, mode, theirs, ours, *options):
    bearer = 'channel' if mode == 'l2cap-server' else 'gatt'
    peer = Bench(lab, lab.peer_endpoint, 'peripheral', '--mode', mode, '--scenario', theirs, '-c', '20', '-s', '200')
    peer.wait_text('Waiting for connection')
    run = lab.run('bench', PERIPHERAL, '--scenario', ours, '--count', '20', '--size', '200', '--patience', '100', *options, timeout=4 * PATIENCE)
    found = result(run, ours, 'central', bearer, 20)
    peer.wait_text('Done!')
    # It goes on advertising, and the next one has the same address and controller.
    peer.end()
    return found


@mark.lab(KINDS, peer=False)
def test_bench_sends_to_bumble(lab):
    """`bench` sends to a bumble-bench that receives, with write commands and with requests, and has its acknowledgement"""
    assert central(lab, 'gatt-server', 'receive', 'send')['bytes'] == 4000
    assert 'roundTripMilliseconds' not in central(lab, 'gatt-server', 'receive', 'send', '--with-response'), 'a throughput is no ping'


@mark.lab(KINDS, peer=False)
def test_bench_pings_bumble(lab):
    """`bench` measures round trips to a bumble-bench that answers"""
    times = central(lab, 'gatt-server', 'pong', 'ping')['roundTripMilliseconds']
    assert 0 < times['min'] <= times['median'] <= times['percentile99'] <= times['max'], f'times in no order: {times}'


@mark.lab(KINDS, peer=False)
def test_bench_answers_bumble(lab):
    """`bench` as a central answers the pings that bumble-bench notifies"""
    # Bumble 0.0.236 ends with an exception after it has sent over GATT, and its controller with it: it sends over channels only.
    central(lab, 'gatt-server', 'ping', 'pong')


@mark.lab(KINDS, peer=False)
def test_bench_over_channels_of_bumble(lab):
    """`bench --channel` sends, receives and pings on a channel of bumble-bench"""
    central(lab, 'l2cap-server', 'receive', 'send', '--channel')
    central(lab, 'l2cap-server', 'pong', 'ping', '--channel')
    central(lab, 'l2cap-server', 'send', 'receive', '--channel')


@mark.lab(('bumble',), peer=False)
def test_bench_serves_bumble(lab):
    """`bench --serve` serves a bumble-bench central: GATT and channels, received, sent and pinged"""
    for mode, bearer in (('gatt-client', 'gatt'), ('l2cap-client', 'channel')):
        for theirs, ours in (('send', 'receive'), ('ping', 'pong'), ('receive', 'send'), ('pong', 'ping')):
            if (mode, theirs) == ('gatt-client', 'send'):
                continue   # as above
            tool = lab.start('bench', '--serve', '--once', '--scenario', ours, '--count', '20', '--size', '200', '--patience', '100')
            tool.wait_event('benchReady')
            peer = Bench(lab, lab.peer_endpoint, 'central', '--mode', mode, '--scenario', theirs, '-c', '20', '-s', '200',
                         address=lab.address + '/P')
            peer.wait_text('Done!')
            run = lab.finish(tool, 4 * PATIENCE)
            assert run.status == 0
            result(run, ours, 'peripheral', bearer, 20)
            peer.end()


@mark.lab(('simulator', 'bumble'), peer=False)
def test_bench_with_itself(lab):
    """`bench` sends to and pings a `bench --serve`, over GATT and over a channel in one link each; no packet is lost"""
    tool = lab.start('bench', '--serve', via=lab.peer_endpoint)
    tool.wait_event('benchReady')
    for bearer, options in (('gatt', []), ('gatt', ['--with-response']), ('channel', ['--channel'])):
        run = lab.run('bench', 'Bench', '--count', '50', '--patience', '100', *options, timeout=4 * PATIENCE)
        assert [(b['scenario'], b['bearer'], b['packets'], b['lost']) for b in run.events('bench')] == [('send', bearer, 50, 0), ('ping', bearer, 50, 0)]
    tool.wait_event('bench', count=6)
    # The peer sends nothing, and has no channel on another SPSM: both are said, with the remedy.
    for options, code in ((['--scenario', 'receive', '--patience', '1'], 'timeout'), (['--channel', '--spsm', '129'], 'attributeNotFound')):
        run = lab.run('bench', 'Bench', *options, status=1, timeout=4 * PATIENCE)
        assert [e['code'] for e in run.events('error')] == [code]
    tool.end()
    assert [(b['scenario'], b['packets'], b['lost']) for b in tool.lines if b['event'] == 'bench'] == [('receive', 50, 0), ('pong', 50, 0)] * 3

"""Disconnections that the host requests: a controller may flush the packets that it has not sent."""
from attack.test_honest import OPEN, lock


def test_commands_before_the_end(bench):
    """What `gatt write --command` reports as written has left the controller before the link is closed"""
    peer = lock(bench)
    bench.controller.air_delay = 0.3
    bench.gatt('write', OPEN, 'c0ffee', '--command')
    assert [w[1] for w in peer.server.written] == [bytes.fromhex('c0ffee')]


def test_commands_of_a_script_before_the_end(bench):
    """None of twenty commands is lost that a script writes one after another"""
    peer = lock(bench)
    bench.controller.air_delay = 0.02
    bench.gatt('script', bench.script(*[f'write {OPEN} {number:02x} --command' for number in range(20)]))
    assert [w[1][0] for w in peer.server.written] == list(range(20))


def test_disconnection_does_not_wait_for_ever(bench):
    """If the controller completes no packets, the disconnection waits for a limited time"""
    lock(bench)
    tool = bench.start('gatt', 'Lock', 'script', bench.script(f'read {OPEN}', f'write {OPEN} 01 --command'))
    tool.wait_event('value')
    bench.controller.hold = True
    result = bench.finish(tool, 60)
    assert result.seconds < 40, result.describe()

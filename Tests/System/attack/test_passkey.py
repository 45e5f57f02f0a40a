"""A passkey, guessed bit by bit, with a fresh address for each try."""
import os, time

from pytest import mark

from attack.test_honest import PROFILE
from jelling.smp import KEYBOARD


def guess(bench, tries, seconds):
    """Guesses a fixed passkey bit by bit, each time from a new address: (attempts that were answered, whether it succeeded)."""
    bits, answered, end = [], 0, time.monotonic() + seconds
    for number in range(tries):
        if time.monotonic() > end:
            break
        peer = bench.central(f'C0:22:{os.urandom(1)[0]:02X}:00:00:{number:02X}')
        try:
            peer.connect(seconds=max(0.1, end - time.monotonic()))
        except AssertionError:
            break     # it advertises no more
        passkey = sum(bit << at for at, bit in enumerate(bits))
        pairing = peer.pair(wait=False, io=KEYBOARD, mitm=True, passkey=passkey)
        pairing.wait_end()
        peer.disconnect()
        if pairing.failure is None:
            return answered + 1, True
        if 0x03 not in pairing.received:
            continue         # it was refused before it told anything
        answered += 1
        # The confirms of the passed rounds reveal bits 0 to round - 1; that of the last round was wrong.
        bits = [passkey >> at & 1 for at in range(pairing.round)] + [1 - (passkey >> pairing.round & 1)]
    return answered, False


@mark.slow
def test_passkey_by_rotating_addresses(bench):
    """A fixed passkey of `serve` is not found with a new random address for each attempt: few attempts are answered"""
    tool = bench.serve(PROFILE, '--io', 'display', '--mitm', '--passkey', '271828')
    answered, is_in = guess(bench, 60, 8)
    assert not is_in, f'the passkey fell after {answered} tries'
    assert answered <= 5, f'{answered} tries were answered in 8 s'
    assert [l for l in tool.lines if l.get('event') == 'paired'] == []
    bench.stop(tool, status=None)
    assert bench.bonds() == []


def test_passkey_is_drawn_anew(bench):
    """A displayed passkey is new for each attempt"""
    tool = bench.serve(PROFILE, '--io', 'display', '--mitm')
    shown = []
    for number in range(2):
        peer = bench.central(f'C0:33:00:00:00:{number:02X}').connect()
        pairing = peer.pair(wait=False, io=KEYBOARD, mitm=True, passkey=number)
        shown.append(tool.wait_event('passkey', count=number + 1)[number]['passkey'])
        pairing.wait_end()
        peer.disconnect()
        time.sleep(2.5)     # what follows a failure at once is refused
    assert shown[0] != shown[1], f'the same passkey was shown twice: {shown}'


def test_fixed_passkey_needs_mitm(bench):
    """`serve --passkey` without `--mitm` is refused as wrong usage"""
    bench.run('serve', '--profile', bench.profile({'services': []}), '--io', 'display', '--passkey', '271828', status=2)

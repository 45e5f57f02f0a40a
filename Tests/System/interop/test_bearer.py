"""Enhanced attribute bearers (EATT), in both roles, with Bumble at the other end."""
import json

from pytest import mark

from interop.test_gatt import ENCRYPTED, LONG_READ, LONG_VALUE
from interop.test_serve import NAME, ORDER, SERVICE, characteristic, passed, serve, steps

KINDS = ('bumble', 'btvirt')


@mark.lab(KINDS, peer=False, through_bled=True)
def test_serve_accepts_enhanced_bearers(lab):
    """A paired central opens two enhanced bearers of `serve --eatt` and reads on both at the same time"""
    lab.settings = {'enhancedBearers': True}
    serve(lab, '--eatt')
    central = passed(lab.central('--name', NAME, '--pair-first', '--skip-gatt', '--eatt'))
    assert [(s['ok'], s['bearers']) for s in steps(central, 'eatt')] == [(True, 2)]


@mark.lab(KINDS, peer=False, through_bled=True)
def test_gatt_opens_enhanced_bearers(lab):
    """`gatt --eatt 3` pairs for a value that needs it, opens bearers, and reads long values over them"""
    lab.start_peer('--eatt')
    capture = lab.path('eatt.btsnoop')
    done = lab.gatt('read', ENCRYPTED, *[LONG_READ] * 6, '--eatt', '3', options=('-w', capture))
    assert [v['value'] for v in done.events('value')][1:] == [LONG_VALUE.hex()] * 6
    summary = lab.run('decode', '--summary', capture)
    counts = json.loads(summary.lines[-1]) if isinstance(summary.lines[-1], str) else summary.lines[-1]
    assert '0x0a' in str(counts.get('eatt_opcodes')), counts.get("eatt_opcodes")


# Values that are due at the same time wait for each other, so that they share a notification.
TOGETHER = {'services': [{'uuid': SERVICE, 'characteristics': [
    characteristic(ORDER, ['read', 'write', 'notify'], ['readable', 'writeable'], value='00000000', notifyEvery=0.02),
    *(characteristic(f'{SERVICE[:4]}{number:04x}{SERVICE[8:]}', ['notify'], value=f'{number:04x}' * 4, notifyEvery=0.02)
      for number in range(0x40, 0x44))]}]}


# Bumble's controller has room for all that is sent, so that nothing waits.
@mark.lab(('btvirt',), peer=False, through_bled=True)
def test_serve_notifies_on_enhanced_bearers(lab):
    """A central that subscribes on one enhanced bearer and writes on another one gets all values on the first, in order, several at once"""
    lab.settings = {'enhancedBearers': True}
    tool = lab.serving(TOGETHER, NAME, '--eatt')
    uuids = [c['uuid'] for c in TOGETHER['services'][0]['characteristics']]
    central = passed(lab.central('--name', NAME, '--pair-first', '--skip-gatt', '--eatt', '--eatt-subscribe', ','.join(uuids)))
    kinds = steps(central, 'eatt-subscribe')[0]['kinds']
    assert kinds['0x23'] > 0, f'no notification of several values: {kinds}'
    assert len({l['uuid'] for l in tool.lines if l.get('event') == 'subscribed'}) == len(uuids)


@mark.lab(KINDS, peer=False)
def test_gatt_subscribes_on_enhanced_bearers(lab):
    """`gatt subscribe --eatt` gets a Bumble device's notifications on the enhanced bearer on which it subscribed"""
    lab.start_peer('--eatt')
    lab.gatt('read', ENCRYPTED)
    capture = lab.path('eatt.btsnoop')
    done = lab.gatt('subscribe', '2A37', '--count', '5', '--eatt', '3', options=('-w', capture))
    assert len(done.events('notified')) == 5
    counts = lab.run('decode', '--summary', capture).lines[-1]
    assert counts['eatt_opcodes'].get('0x1b', 0) >= 5, counts.get("eatt_opcodes")

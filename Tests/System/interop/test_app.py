"""Programs for Core Bluetooth, compiled unchanged against our module, with Bumble as their peer."""
import os, time

import pytest
from pytest import mark

from interop.test_gatt import AUTHENTICATED
from jelling.child import Terminal
from jelling.lab import PEER_ADDRESS
from jelling.programs import EXAMPLES

KINDS = ('bumble', 'bumble-legacy', 'btvirt', 'simulator')


def event(name):
    return lambda line: line.get('event') == name


def needs(*names):
    missing = [n for n in names if not os.access(os.path.join(EXAMPLES, n), os.X_OK)]
    if missing:
        pytest.skip(f'{missing} not built: swift build')


@mark.lab(KINDS, through_bled=True)
def test_heart_rate_app_follows_the_pulse(lab):
    """The heart rate app finds Bumble's sensor, reads its location, follows five beats and disconnects"""
    needs('heart-rate-central')
    result = lab.finish(lab.app('heart-rate-central', '5'))
    assert result.status == 0, result.describe()
    assert [l['uuid'] for l in result.events('service')] == ['180D']
    assert len(result.events('location')) == 1, result.describe()
    beats = [int(l['bpm']) for l in result.events('beat')]
    assert len(beats) >= 5 and all(0 < b < 255 for b in beats), f'beats {beats}'
    assert result.lines[-1] == {'event': 'disconnected', 'error': 'none'}


@mark.lab(('bumble', 'bumble-legacy', 'simulator'), peer=False, through_bled=True)
def test_transfer_app_sends_its_text_to_bumble(lab):
    """The transfer app is found, explored and subscribed to by Bumble, and its whole text is sent"""
    needs('transfer-peripheral')
    app = lab.app('transfer-peripheral', '3000')
    app.wait_event('advertising')
    central = lab.central('--peer', lab.address + '/P')
    app.wait_event('subscribed')
    app.wait_event('sent')
    result = lab.finish(central, 60)
    assert any(l.get('ok') is True and 'step' not in l for l in result.lines), result.describe()
    app.wait_event('unsubscribed')


@mark.lab(KINDS, peer=False, through_bled=True)
def test_transfer_app_and_its_reader(lab):
    """Two of our apps on foreign controllers: the reader collects 5,000 characters and answers them"""
    needs('transfer-peripheral', 'transfer-central')
    source = lab.app('transfer-peripheral', '5000', number=0)
    source.wait_event('advertising')
    result = lab.finish(lab.app('transfer-central', number=1), 60)
    assert result.status == 0, result.describe()
    assert result.events('text')[0]['bytes'] == 5000
    source.wait_event('received', count=5)
    source.wait_event('unsubscribed')


# A person's part in pairing

PAIRING_KINDS = ('bumble', 'btvirt')
SECRET, PASSKEY = 'very secret', '123456'


def reads_secret(result):
    assert result.status == 0, result.describe()
    assert [l['value'] for l in result.events('value')] == [SECRET]


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_app_pairs_with_its_agent(lab):
    """An app's pairing agent is asked for the passkey that Bumble shows; the bond serves the next run without it"""
    needs('protected-reader')
    lab.start_peer('--io', 'display', '--mitm')
    wrong = lab.finish(lab.app('protected-reader', '180D', AUTHENTICATED, '654321'))
    assert wrong.status == 1, wrong.describe()
    lab.wait_peer('pairing-failed')
    if lab.through_bled:
        time.sleep(2.5)   # a daemon remembers the failure, and what follows one at once is refused
    assert [l['code'] for l in wrong.events('refused')] == ['5']
    right = lab.finish(lab.app('protected-reader', '180D', AUTHENTICATED, PASSKEY))
    reads_secret(right)
    assert [l['peer'] for l in right.events('asked')] == ['BumblePeer']
    assert lab.wait_peer('paired')[0]['authenticated'], 'not authenticated at the peer'
    # The operator's tool finds the bond in the app's folder.
    kept = lab.run('bonds', options=('--state', lab.path('app-state0'))).events('bond')
    assert [(b['identity'], b['authenticated']) for b in kept] == [(PEER_ADDRESS, True)]
    starts = len(lab.peer_events('pairing-start'))
    reads_secret(lab.finish(lab.app('protected-reader', '180D', AUTHENTICATED)))
    assert len(lab.peer_events('pairing-start')) == starts


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_app_pairs_at_its_terminal(lab):
    """An app that names no agent asks at its terminal for the passkey that Bumble shows"""
    needs('protected-reader')
    lab.start_peer('--io', 'display', '--mitm')
    with Terminal() as terminal:
        app = lab.app('protected-reader', '180D', AUTHENTICATED, terminal=terminal)
        terminal.wait_for('Type the passkey that ‘BumblePeer’ (')
        terminal.wait_for(') shows: ')
        terminal.type('12')
        terminal.wait_for('six digits')
        terminal.type(PASSKEY)
        terminal.wait_for('Paired with ‘BumblePeer’ (')
        reads_secret(lab.finish(app))
    assert lab.wait_peer('paired')[0]['authenticated'], 'not authenticated at the peer'


@mark.lab(PAIRING_KINDS, peer=False, through_bled=True)
def test_app_without_a_person_pairs_with_less(lab):
    """Without an agent and without a terminal a value that needs a user stays closed, and nothing hangs"""
    needs('protected-reader')
    lab.start_peer('--io', 'display', '--mitm')
    result = lab.finish(lab.app('protected-reader', '180D', AUTHENTICATED))
    assert result.status == 1, result.describe()
    assert [l['code'] for l in result.events('refused')] == ['5']
    assert result.events('value') == []

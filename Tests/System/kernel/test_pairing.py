"""Pairing with BlueZ's daemon by every model, in both roles: its operator types what the agent asks for."""
import os, re

from pytest import mark

from kernel.bluez import BLUEZ_ADDRESS, BlueZ, forget, has_agent, said
from jelling.child import Child, Terminal
from kernel.harness import OUR_ADDRESS, TOOL, Served, wait_until

pytestmark = mark.usefixtures('bluez')

PASSKEY = '020406'
# The model: its words, BlueZ's agent, our options, who is asked for a passkey, and (Secure Connections, authenticated).
MODELS = {
    'passkey_typed_there': ('a passkey typed into BlueZ', 'KeyboardOnly', ['--io', 'display', '--passkey', PASSKEY, '--mitm'],
                            'there', (True, True)),
    'passkey_typed_here': ('a passkey that BlueZ shows', 'DisplayOnly', ['--io', 'keyboard', '--mitm'], 'here', (True, True)),
    'comparison': ('numbers compared at both', 'DisplayYesNo', ['--io', 'yesno', '--mitm', '--yes'], 'both', (True, True)),
    'just_works_legacy': ('Just Works, legacy', 'NoInputNoOutput', ['--no-sc'], None, (False, False)),
    'passkey_typed_there_legacy': ('a passkey typed into BlueZ, legacy', 'KeyboardOnly',
                                   ['--io', 'display', '--passkey', PASSKEY, '--mitm', '--no-sc'], 'there', (False, True)),
    'passkey_typed_here_legacy': ('a passkey that BlueZ shows, legacy', 'DisplayOnly', ['--io', 'keyboard', '--mitm', '--no-sc'],
                                  'here', (False, True)),
}


def answers(asked, before, person, compared):
    """What the two persons do with what BlueZ says after `before`."""
    if asked == 'there':
        BlueZ.hears(before, 'the question', 'Enter passkey')
        BlueZ.types(PASSKEY)
    elif asked == 'here':
        shown = re.search(r'Passkey: (\d{6})', BlueZ.hears(before, 'the passkey', r'Passkey: \d{6}'))
        person.wait_for('enter the passkey', 180)
        person.type(shown[1])
    elif asked == 'both':
        shown = re.search(r'Confirm passkey (\d{6})', BlueZ.hears(before, 'the comparison', r'Confirm passkey \d{6}'))
        wait_until(compared, 'the comparison here')
        assert int(compared()[0]['number']) == int(shown[1]), f'{compared()} and {shown[1]}'
        BlueZ.types('yes')


def is_paired(line, want):
    assert (line['secureConnections'], line['authenticated'], line['keySize']) == (*want, 16), line
    assert (line['identity'], line['identityType']) == (BLUEZ_ADDRESS, 'public'), line


@mark.parametrize('model', MODELS)
def test_bluez_pairs_with_serve_by(model):
    """BlueZ pairs with `serve` by each model"""
    _, agent, ours, asked, want = MODELS[model]
    has_agent(agent)
    person = Terminal()
    served = Served(*ours, person=person)
    try:
        BlueZ.finds_and_connects()
        before = len(said())
        BlueZ.types(f'pair {OUR_ADDRESS}')
        answers(asked, before, person, lambda: served.events('comparison'))
        BlueZ.hears(before, 'pair', 'Pairing successful')
        is_paired(served.wait_event('paired')[0], want)
        BlueZ.disconnects(served)
    finally:
        served.stop()
        person.close()
        forget()


@mark.parametrize('model', MODELS)
def test_pair_with_bluez_by(model):
    """`pair` with BlueZ by each model"""
    _, agent, ours, asked, want = MODELS[model]
    has_agent(agent)
    BlueZ.types('pairable on')
    person, before = Terminal(), len(said())
    pair = Child('pair', [TOOL, '-t', 'user:1', '--json', 'pair', BLUEZ_ADDRESS, *ours], '/tmp/pair.err',
                 {**os.environ, 'XDG_STATE_HOME': '/tmp/state'}, person)
    try:
        if asked:
            answers(asked, before, person, lambda: pair.events('comparison'))
        else:
            BlueZ.hears(before, 'the question', 'Accept pairing|Authorize|Confirm')
            BlueZ.types('yes')
        assert pair.process.wait(180) == 0, f'pair: {pair.lines}'
        is_paired(pair.wait_event('paired')[0], want)
    finally:
        pair.end()
        person.close()
        forget()

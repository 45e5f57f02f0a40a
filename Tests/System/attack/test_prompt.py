"""Questions at a terminal: what a stranger can write into them, and whose answer is whose."""
import os, time

import pytest

from jelling.attributes import READ
from jelling.child import Terminal
from jelling.programs import EXAMPLES
from attack.test_honest import PROFILE, SECRET
from attack.test_screen import ESCAPES, FOREIGN, encoded, named
from jelling.smp import YES_NO


def is_clean(terminal):
    found = FOREIGN.search(terminal.shown.replace('\r\n', '\n').replace('\r', ''))
    assert not found, f'{found and found[0]!r} in {terminal.shown!r}'


def test_prompt_of_an_app(bench):
    """The question of a Core Bluetooth app at its terminal shows a device's name without its escapes"""
    if not os.access(os.path.join(EXAMPLES, 'protected-reader'), os.X_OK):
        pytest.skip('protected-reader is not built: swift build')
    for number, raw in enumerate((ESCAPES['escape'].encode()[:24], encoded('c1'), encoded('bidi'), encoded('tags'))):
        peer = named(bench, raw, f'C0:00:00:00:00:{number + 1:02X}')
        peer.server.characteristic(SECRET, READ, b'secret', needs='authentication')
        peer.pairing = {'io': YES_NO, 'mitm': True}
        terminal = Terminal()
        app = bench.app('protected-reader', '180D', SECRET, state=f'app{number}', terminal=terminal)
        try:
            peer.wait(lambda: peer.pairings, 'pairing')
            terminal.wait_for('?')
            is_clean(terminal)
        finally:
            app.end()
            terminal.close()
            bench.controller.remove(peer)


def test_prompt_of_the_tool(bench):
    """The question of `pair` at its terminal shows a device's name without its escapes"""
    raw = ESCAPES['escape'].encode()[:24] + 'a\u202eb'.encode()
    peer = named(bench, raw)
    peer.pairing = {'io': YES_NO, 'mitm': True}
    terminal = Terminal()
    tool = bench.start('pair', peer.address + '/random', '--io', 'yesno', '--mitm', json=False, terminal=terminal)
    try:
        terminal.wait_for('?')
        time.sleep(0.2)
        is_clean(terminal)
    finally:
        tool.end()
        terminal.close()


def ask_at_once(bench, tool):
    """Two centrals during a comparison; `serve` advertises while a link is up."""
    peers, pairings = [], []
    for number in range(2):
        peer = bench.central(f'C0:44:00:00:00:{number + 1:02X}').connect()
        peers.append(peer)
        pairings.append(peer.pair(wait=False, io=YES_NO, mitm=True))
        time.sleep(0.5)
    return peers, pairings


def test_typed_answer_to_the_right_question(bench):
    """Two pairings at once: one question at a time, each names its device, and a typed answer is for the one that is shown"""
    terminal = Terminal()
    tool = bench.start('serve', '--profile', bench.profile(PROFILE), '--io', 'yesno', '--mitm', terminal=terminal)
    try:
        peers, pairings = ask_at_once(bench, tool)
        terminal.wait_for(peers[0].address)
        time.sleep(0.3)
        terminal.type('y')
        pairings[0].wait_end()
        assert pairings[0].failure is None
        assert pairings[1].failure is not None or not pairings[1].done.is_set(), 'one answer paired both'
        if not pairings[1].done.is_set():
            terminal.wait_for(peers[1].address)
            terminal.type('n')
            pairings[1].wait_end()
        assert pairings[1].failure is not None, 'the second was paired by the answer to the first'
    finally:
        tool.end()
        terminal.close()

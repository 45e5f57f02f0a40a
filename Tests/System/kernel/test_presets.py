"""Simulated controllers of real families behind the kernel's /dev/vhci: BlueZ's own daemon meets them, and so does bletool."""
import os, pathlib

import pytest
from pytest import mark

from kernel import presets


@pytest.fixture(scope='module', autouse=True)
def daemon(guests):
    processes = presets.start_daemon() if os.environ.get('JELLING_GUEST') else ()
    yield
    for process in processes:
        process.terminate()


def meet(preset):
    """What is other than expected, of both hosts."""
    with presets.Controllers(preset):
        results = {'bluez': presets.bluez(), 'jelling': presets.jelling()}
    for host, said in results.items():
        presets.note(preset, host, said)
    return {host: wrong for host, said in results.items() if (wrong := presets.unexpected(preset, host, said))}


@mark.parametrize('preset', presets.PRESETS)
def test_hosts_meet(preset):
    """BlueZ and bletool bring the controller up, scan, connect, read, are notified and pair, as far as expected; with a correct one
    everything works"""
    wrong = meet(preset)
    assert not wrong, f'other than expected: {wrong}'


def test_table():
    """The table beside BlueZ in Documentation/Controllers.md is current; JELLING_GUEST_TABLE names a file that gets a new one"""
    noted = presets.noted()
    for preset in presets.PRESETS:
        # One that failed may have passed in another guest since, and this may be a guest of its own, too.
        if any((preset, host) not in noted or presets.unexpected(preset, host, noted[preset, host]) for host in presets.LACKS):
            meet(preset)
    table = presets.table()
    pathlib.Path(presets.TABLE).write_text(table)
    assert table in pathlib.Path(presets.PAGE).read_text(), f'Documentation/Controllers.md has another table than\n{table}'

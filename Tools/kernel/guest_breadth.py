"""Enhanced bearers with BlueZ's daemon, for guest_suite.py.

BlueZ has enhanced bearers where the kernel has enhanced credit-based channels, which a parameter of its module switches
on, and `[GATT] Channels` in main.conf asks for more than one."""
import os

from guest_bluez import BLUEZ_ADDRESS, ECRED, BlueZ, paired_with_bluez, said
from guest_harness import OUR_ADDRESS, Served, check, test, tool


def bearers_in(capture):
    """How many ATT packets of each opcode crossed enhanced bearers, from `decode --summary`."""
    return tool('decode', capture, '--summary').lines[0].get('eatt_opcodes') or {}


def forget():
    BlueZ.types(f'remove {OUR_ADDRESS}', 'has been removed|not available')
    tool('unpair', BLUEZ_ADDRESS, status=None)


@test
def bluez_opens_enhanced_bearers():
    """BlueZ pairs with `serve --eatt`, opens enhanced bearers, and reads over them"""
    check(os.path.exists(ECRED) and open(ECRED).read().strip() in ('Y', '1'), 'the kernel has no enhanced channels')
    BlueZ.types('agent off')
    BlueZ.types('agent NoInputNoOutput', 'Agent registered')
    BlueZ.types('default-agent', 'Default agent request successful')
    capture = '/tmp/eatt-served.btsnoop'
    served = Served('--eatt', capture=capture)
    try:
        before = len(said())
        BlueZ.finds_and_connects()
        # BlueZ asks for encryption by itself, for the enhanced bearers that it saw offered; its kernel then pairs.
        BlueZ.hears(before, 'the question', 'Accept pairing')
        BlueZ.types('yes')
        served.wait_for('paired')
        BlueZ.types('menu gatt', 'acquire-notify')
        uuid = '6b7a0006-9d1c-4f5e-8a2b-3c4d5e6f7081'
        BlueZ.types(f'select-attribute {uuid}')
        BlueZ.types('attribute-info', f'UUID: {uuid}')
        for _ in range(6):
            BlueZ.types('read', 'Attempting to read', r'\b5e c2 e7\b')
        BlueZ.types('back')
        BlueZ.types(f'disconnect {OUR_ADDRESS}', 'Successful disconnected|Disconnection successful|Connected: no')
        served.wait_for('disconnected')
    finally:
        BlueZ.types('back')
        served.stop()
        forget()
    check(bearers_in(capture), f'nothing crossed enhanced bearers: {tool("decode", capture, "--summary").out[-600:]}')


@test
def gatt_opens_enhanced_bearers_of_bluez():
    """`gatt --eatt 2`, once paired with BlueZ, opens its enhanced bearers and reads and discovers over them"""
    BlueZ.types('pairable on')
    capture = '/tmp/eatt-client.btsnoop'
    try:
        paired_with_bluez()
        run = tool('-w', capture, 'gatt', BLUEZ_ADDRESS, 'read', *['2A00'] * 6, '--eatt', '2', transport='user:1')
        check(len(run.events('value')) == 6, f'{run}')
    finally:
        forget()
    check(bearers_in(capture), f'nothing crossed enhanced bearers: {tool("decode", capture, "--summary").out[-600:]}')

"""Enhanced attribute bearers (EATT), in both roles, with Bumble at the other end."""
import json

from cases import case, check, same
from gatt_cases import ENCRYPTED, LONG_READ, LONG_VALUE
from serve_cases import NAME, passed, serve, steps, stop

KINDS = ('bumble', 'btvirt')


@case(KINDS, peer=False)
def serve_accepts_enhanced_bearers(lab):
    """A paired central opens two enhanced bearers of `serve --eatt` and reads on both at the same time"""
    lab.settings = {'enhancedBearers': True}
    tool = serve(lab, '--eatt')
    central = passed(lab.central('--name', NAME, '--pair-first', '--skip-gatt', '--eatt'))
    same('(passed, bearers)', [(s['ok'], s['bearers']) for s in steps(central, 'eatt')], [(True, 2)])
    stop(lab, tool)


@case(KINDS, peer=False)
def gatt_opens_enhanced_bearers(lab):
    """`gatt --eatt 3` pairs for a value that needs it, opens bearers, and reads long values over them"""
    lab.start_peer('--eatt')
    capture = lab.path('eatt.btsnoop')
    done = lab.gatt('read', ENCRYPTED, *[LONG_READ] * 6, '--eatt', '3', options=('-w', capture))
    same('long values', [v['value'] for v in done.events('value')][1:], [LONG_VALUE.hex()] * 6)
    summary = lab.run('decode', '--summary', capture)
    counts = json.loads(summary.lines[-1]) if isinstance(summary.lines[-1], str) else summary.lines[-1]
    check('0x0a' in str(counts.get('eatt_opcodes')), f'{counts.get("eatt_opcodes")}')

"""`bletool l2cap`: credit-based channels of both forms, in both roles, with Bumble at the other end."""
import json, os, subprocess, threading

from cases import case, check, same
from lab import PATIENCE
from serve_cases import passed, steps

KINDS = ('bumble', 'btvirt')
PEER = 'BumblePeer'
PSM = '0x80'
# Longer than a message, so that the input is cut into several.
OCTETS = bytes(range(256)) * 80


def piped(lab, *arguments, json_lines=False, status=0):
    """Runs the tool with `OCTETS` as its input; what it printed."""
    command = lab.command('l2cap', 'connect', PEER, '--psm', PSM, '--linger', '5', *arguments, json=json_lines)
    done = subprocess.run(command, input=OCTETS, capture_output=True, timeout=2 * PATIENCE,
                          env={**os.environ, 'XDG_STATE_HOME': lab.path('state')})
    same(f'exit status; stderr {done.stderr[-300:]}', done.returncode, status)
    return done


@case(KINDS, peer=False)
def l2cap_pipes_a_channel(lab):
    """`l2cap connect` sends its input and prints what a peer sends back, octet for octet"""
    lab.start_peer('--psm', PSM)
    same('output', piped(lab).stdout, OCTETS)
    opened = lab.wait_peer('coc-open')[0]
    same('(MTU, MPS, credits)', (opened['mtu'], opened['mps'], opened['credits']), (2048, 247, 16))
    lab.wait_peer('coc-close')


@case(KINDS, peer=False)
def l2cap_sizes(lab):
    """Messages and frames are no longer than both sides agreed: here 100 and 30 octets with one credit at a time"""
    lab.start_peer('--psm', PSM, '--coc-mtu', '100', '--coc-mps', '30', '--coc-credits', '1')
    same('output', piped(lab, '--mtu', '100', '--mps', '23', '--credits', '1').stdout, OCTETS)


@case(KINDS, peer=False)
def l2cap_opens_several_channels(lab):
    """`l2cap connect --enhanced --count 5` opens five channels by one request and uses all of them"""
    lab.start_peer('--psm', PSM)
    done = piped(lab, '--enhanced', '--count', '5', json_lines=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    same('channels', [l['channel'] for l in lines if l['event'] == 'channelOpened'], [1, 2, 3, 4, 5])
    messages = [l for l in lines if l['event'] == 'channelData']
    same('channels in use', {l['channel'] for l in messages}, {1, 2, 3, 4, 5})
    came = sorted(bytes.fromhex(l['value']) for l in messages)
    size = max(map(len, came))
    same('messages', came, sorted(OCTETS[at:at + size] for at in range(0, len(OCTETS), size)))
    lab.wait_peer('coc-open', 5)


@case(KINDS, peer=False)
def l2cap_refused(lab):
    """A device that has no such channel is told by the words and the exit status"""
    lab.start_peer('--psm', '0x90')
    for more in ([], ['--enhanced']):
        done = piped(lab, *more, status=1)
        check(b'does not offer a channel' in done.stderr, f'stderr: {done.stderr}')


def echoed(lab, *central, tool=()):
    """`l2cap listen` under a central that wants each message back."""
    command = lab.command('l2cap', 'listen', '--psm', PSM, '--name', 'Echo', '--linger', '60', *tool)
    lab.number += 1
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, 'XDG_STATE_HOME': lab.path('state')})
    listening, lines = threading.Event(), []

    def echo():
        for text in process.stdout:
            line = json.loads(text)
            lines.append(line)
            if line['event'] == 'listening':
                listening.set()
            if line['event'] == 'channelData':
                process.stdin.write(bytes.fromhex(line['value']))
                process.stdin.flush()

    reader = threading.Thread(target=echo, daemon=True)
    reader.start()
    try:
        check(listening.wait(PATIENCE), 'it does not listen')
        # The tool ends the link when the channel has closed.
        peer = passed(lab.central('--name', 'Echo', '--skip-gatt', '--coc', PSM, '--hold', '60', *central))
        process.wait(PATIENCE)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        errors = process.stderr.read()
    reader.join(PATIENCE)
    same(f'exit status; stderr {errors[-300:]}', process.returncode, 0)
    return peer, lines


@case(KINDS, peer=False)
def l2cap_listens(lab):
    """`l2cap listen` serves a central that opens a channel, and ends when it closes it"""
    peer, lines = echoed(lab, tool=('--mtu', '3000'))
    same('MTU at the central', steps(peer, 'coc-open')[0]['mtu'], 3000)
    same('sizes that came back', [s['size'] for s in steps(peer, 'coc-echo')], [1, 20, 251, 1000, 3000])
    same('closed', [l['channel'] for l in lines if l['event'] == 'channelClosed'], [1])


@case(KINDS, peer=False)
def l2cap_listens_for_one_enhanced_channel(lab):
    """`l2cap listen --enhanced` accepts the enhanced form from a central"""
    peer, lines = echoed(lab, '--coc-enhanced', '1', tool=('--enhanced',))
    same('sizes that came back', [s['size'] for s in steps(peer, 'coc-echo')], [1, 20, 251, 1000, 2048])
    same('opened', [l['channel'] for l in lines if l['event'] == 'channelOpened'], [1])


@case(KINDS, peer=False)
def l2cap_requires_encryption(lab):
    """`l2cap listen --encrypted` refuses a central that has not paired, and serves it after pairing"""
    command = lab.start('l2cap', 'listen', '--psm', PSM, '--name', 'Echo', '--encrypted')
    command.wait_for(lambda l: l.get('event') == 'listening', 'listening')
    central = lab.central('--name', 'Echo', '--skip-gatt', '--coc', PSM)
    central.wait_for(lambda l: 'step' not in l, 'verdict')
    check(not [l for l in command.lines if l.get('event') == 'channelOpened'], 'a channel was opened')
    central.end()
    command.end()
    peer, _ = echoed(lab, '--pair-first', tool=('--encrypted',))
    check(steps(peer, 'coc-open'), 'no channel after pairing')

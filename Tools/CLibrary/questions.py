"""What a pairing asks the person at ble-gw, and what ble-beacon answers, with Bumble as the other device."""
import functools, json, os, subprocess

import attempts, users
from jelling import lab

PEER, NAME = 'F2:F1:F0:00:00:02/random', 'Jelling'
DISPLAYED = '123456'


def event(name):
    return lambda line: line.get('event') == name


def same(what, got, want):
    if got != want:
        raise lab.Failure(f'{what}: got {got!r}, want {want!r}')


class Bench(lab.Lab):
    """`page`: what the lines must be like."""

    def __init__(self, folder, runner, page):
        super().__init__('bumble')
        self.folder, self.runner, self.page = folder, runner, page

    def program(self, name, *options):
        self.number += 1
        command = [*self.runner, os.path.join(self.folder, name), '-t', self.endpoint, '--state', self.path('bonds'), *options]
        child = lab.Child(name, command, self.path(f'{name}{self.number}.err'), stdin=subprocess.PIPE)
        self.children.append(child)
        return child

    def ended(self, child, status):
        child.process.stdin.close()
        same(f'status of {child.name}', child.process.wait(lab.PATIENCE), status)
        child.end()
        same('lines that are no JSON', child.strays, [])
        for line in child.lines:
            if fault := self.page.look(json.dumps(line))[2]:
                raise lab.Failure(fault)


def say(child, *lines):
    child.process.stdin.write(''.join(line + '\n' for line in lines).encode())
    child.process.stdin.flush()


def asked(bench, io, kind):
    """A gateway whose pairing has asked its one question."""
    gateway = bench.program('ble-gw', '--io', io, '--mitm')
    say(gateway, f'connect {PEER} timeout={lab.PATIENCE}', 'pair')
    same('the question', gateway.wait_for(event('question'), 'question')[0]['kind'], kind)
    return gateway


def not_paired(bench, gateway):
    """The pairing fails with an error; the program goes on, and keeps no bond."""
    gateway.wait_for(lambda line: line.get('code') == 'pairingFailed', 'pairingFailed')
    say(gateway, 'bonds', 'quit')
    bench.ended(gateway, 1)
    same('pairings', [line for line in gateway.lines if line['event'] in ('paired', 'bond')], [])


def passkey_is_typed(bench):
    """`passkey NUMBER` answers the question for a passkey, also behind waiting lines; what is none is an error (SPEC SEC-3)"""
    bench.start_peer('--io', 'display', '--mitm')
    gateway = asked(bench, 'keyboard', 'passkey')
    say(gateway, 'passkey 1000000', 'passkey', 'yes', 'bonds', f'passkey {DISPLAYED}')
    paired = gateway.wait_for(event('paired'), 'paired')[0]
    same('(Secure Connections, authenticated)', (paired['secureConnections'], paired['authenticated']), (True, True))
    same('errors', [line['code'] for line in gateway.lines if line['event'] == 'error'], 3 * ['usage'])
    say(gateway, 'quit')
    bench.ended(gateway, 0)
    same('bonds', len([line for line in gateway.lines if line['event'] == 'bond']), 1)


def passkey_is_refused(bench):
    """`no` answers the question for a passkey: the pairing fails"""
    bench.start_peer('--io', 'display', '--mitm')
    gateway = asked(bench, 'keyboard', 'passkey')
    say(gateway, 'no')
    not_paired(bench, gateway)
    bench.wait_peer('pairing-failed')


def numbers_are_the_same(bench):
    """`yes` answers the question whether both devices show one number, which is printed before"""
    bench.start_peer('--io', 'yesno', '--mitm')
    gateway = asked(bench, 'yesno', 'comparison')
    same('the events before', [line['event'] for line in gateway.lines][-2:], ['comparison', 'question'])
    say(gateway, 'yes')
    same('authenticated', gateway.wait_for(event('paired'), 'paired')[0]['authenticated'], True)
    say(gateway, 'quit')
    bench.ended(gateway, 0)


def numbers_differ(bench):
    """`no` answers it: the pairing fails"""
    bench.start_peer('--io', 'yesno', '--mitm')
    gateway = asked(bench, 'yesno', 'comparison')
    say(gateway, 'passkey 1', 'no')
    same('the first error', gateway.wait_for(event('error'), 'error')[0]['code'], 'usage')
    not_paired(bench, gateway)
    bench.wait_peer('pairing-failed')


def nobody_answers(bench):
    """SIGTERM ends a program whose question nobody answers"""
    bench.start_peer('--io', 'yesno', '--mitm')
    gateway = asked(bench, 'yesno', 'comparison')
    gateway.process.terminate()
    bench.ended(gateway, 0)


def beacon_says_no(bench):
    """ble-beacon without --yes says no to a comparison, and without --passkey to a passkey; it names the option"""
    for io, peer, option in (('yesno', 'yesno', '--yes'), ('keyboard', 'display', '--passkey')):
        beacon = bench.program('ble-beacon', '--name', NAME, '--io', io, '--mitm')
        beacon.wait_for(event('advertising'), 'advertising')
        central = bench.central('--name', NAME, '--pair-first', '--io', peer, '--mitm')
        beacon.wait_for(event('pairingFailed'), 'pairingFailed')
        central.end()
        beacon.process.terminate()
        bench.ended(beacon, 0)
        same(f'{option} is named', option in beacon.stderr(), True)
        same('pairings', [line for line in beacon.lines if line['event'] == 'paired'], [])


def bond_is_replaced_by_word(bench):
    """a bond is replaced where `yes` comes after the question, but not by one that was written ahead; lines keep their numbers"""
    users.write_state(bench.path('bonds'), {**users.BOND, 'identity': PEER})
    for answer, end in (('no', 'pairingFailed'), ('yes', 'paired')):
        # The device has lost its keys: behind a private address it says only while it pairs that the bond is with it.
        peer = bench.start_peer('--privacy')
        gateway = bench.program('ble-gw')
        say(gateway, f'connect BumblePeer timeout={lab.PATIENCE}', 'pair', 'yes', 'no')
        same('the question', gateway.wait_for(event('question'), 'question')[0]['kind'], 'replaceBond')
        say(gateway, answer, 'nonsense', 'quit')
        bench.ended(gateway, 1)
        ends = [line.get('code', line['event']) for line in gateway.lines]
        same('the end', [one for one in ends if one in ('pairingFailed', 'paired')], [end])
        # The two that were written ahead, now as commands, and the last.
        same('lines with errors', [line['line'] for line in gateway.lines if 'line' in line], [3, 4, 6])
        peer.end()
    kept = bench.program('ble-gw', '--bonds')
    kept.process.wait(lab.PATIENCE)
    kept.reader.join(lab.PATIENCE)
    same('bonds', [f'{line["identity"]}/{line["identityType"]}' for line in kept.lines], [PEER])


CASES = [passkey_is_typed, passkey_is_refused, numbers_are_the_same, numbers_differ, nobody_answers, beacon_says_no,
         bond_is_replaced_by_word]


def carried_out(case, *settings):
    """(whether it is good, why not), on a bench of its own"""
    with attempts.opened(lambda: Bench(*settings), peer=False) as bench:
        case(bench)
    return True, ''


def all_cases(folder, runner, page, cases=CASES):
    """(what, case) of each."""
    for case in cases:
        yield case.__doc__, functools.partial(carried_out, case, folder, runner, page)

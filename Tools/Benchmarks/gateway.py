"""The gateway, from the radio to a subscriber of the broker: under the load of 1,000 devices, and beside Theengs Gateway.

  gateway.py [WORD]…     words choose rows by name

Runs Tools/Gateway/load for a minute and Tools/Gateway/theengs, and prints rows for `table.py`; without words its table goes into
Documentation/Performance.md. `GATEWAY` names the program."""
import json, os, subprocess, sys

from rows import ROOT, bench, figure, measured, row, write_between

WORDS = [word for word in sys.argv[1:] if word != '--check']
TABLE = []


def figures(*command):
    """The lines of JSON that a program prints."""
    run = subprocess.run([os.path.join(ROOT, 'Tools', 'Gateway', command[0]), *command[1:], '--json'], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        raise bench.Failure(f'Tools/Gateway/{" ".join(command)} ended with status {run.returncode}: {run.stdout[-300:]}')
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{')]


def add(name, value, unit, peer=None, remark=''):
    row(name, value, unit, peer='' if peer is None else peer, remark=remark)
    ratio = figure(value / peer, '') if peer else ''
    TABLE.append(f'| {name} | {figure(value, unit)} | {figure(peer, unit)} | {ratio} | {remark} |')


def load(name):
    found, = figures('load', '--minutes', '1', '--proxy', 'none', '--page', 'none')
    remark = f'{found["reports"]:.0f} reports a second on two adapters, QoS 1, each a document'
    for share in ('median', '99 %'):
        add(f'{name}: report to subscriber, {share}', found['latency'][share], 'ms', remark=remark)
    add(f'{name}: processor of a report', found['processor'], 'µs', remark=f'{found["share"]:.0f} % of a core')
    add(f'{name}: memory', found['memory'], 'MB')


def beside(name):
    theirs, ours, default = figures('theengs')
    add(f'{name}: devices decoded', ours['devices'], '', theirs['devices'], f'of {ours["given"]}')
    for share in ('median', '99 %'):
        add(f'{name}: advertisement to subscriber, {share}', ours['latency'][share], 'ms', theirs['latency'][share])
    add(f'{name}: processor of an advertisement', ours['processor'], 'µs', theirs['processor'], 'theirs without BlueZ and D-Bus')
    add(f'{name}: the same as it is by default, QoS 1', default['processor'], 'µs', theirs['processor'])
    add(f'{name}: memory', ours['memory'], 'MB', theirs['memory'])


measured(WORDS, load, 'gateway, 1,000 devices', needs_peers=False)
measured(WORDS, beside, 'gateway beside Theengs Gateway, 100 advertisements a second', needs_peers=False)
if not WORDS:
    write_between('gateway', ['| what | jelling-gateway | Theengs Gateway | ratio | |', '|---|---|---|---|---|', *TABLE])

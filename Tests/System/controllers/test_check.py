"""`bletool check`, and the truth of scans: on the families of controllers that the simulator plays, on Bumble's controllers, on
scripted ones that refuse or hang, and through bled."""
import os, pathlib, re, subprocess

from pytest import mark

from jelling.child import PATIENCE
from jelling.controller import SILENT
from jelling.programs import BLETOOL

FAMILIES = {
    'csr-clone': 'clone of a CSR chip', 'realtek-8761': 'Realtek RTL8761B', 'ats2851': 'Actions ATS2851', 'intel-ax2xx': 'Intel',
    'broadcom-pi': 'Broadcom/Cypress on a serial port', 'zephyr-usb': 'Zephyr or Nordic', 'esp32': 'Espressif ESP32',
    'mediatek-7922': 'MediaTek MT7921/7922/7925', 'cc2564': 'Texas Instruments CC256x/WL18xx', 'virtual-machine': 'Broadcom',
}
# What the check must say of some of them.
WORDS = {
    'csr-clone': ['is a copy of another maker\'s chip', 'has an address that many units have'],
    'realtek-8761': ['comes back after a hang only if the device is reset', 'may stop to hear devices'],
    'ats2851': ['it claims the extended ones, and needs legacy ones for scanning, connecting'],
    'intel-ax2xx': ['cannot scan on LE Coded'],
    'broadcom-pi': ['may crash when it scans while a link is made'],
    'esp32': ['may lose long data'],
    'mediatek-7922': ['connect to nobody, until it is reset'],
}
STEPS = ['start', 'chip', 'firmware', 'device', 'power', 'scan', 'hear', 'connect', 'write', 'latency', 'notify', 'advertise', 'reset',
         'commands', 'counters']
ADDRESS = re.compile(r'[0-9A-Fa-f]{2}([:_-][0-9A-Fa-f]{2}){5}')
SET_SCAN_ENABLE, SET_EXTENDED_SCAN_ENABLE = 0x200C, 0x2042


def check(lab, *arguments, status=0, **how):
    """({step: its line}, the verdict); the steps are complete and in order."""
    run = lab.run('check', *arguments, timeout=12 * PATIENCE, status=status, **how)
    steps = {line['step']: line for line in run.events('check')}
    assert list(steps) == STEPS, f'steps: {list(steps)}'
    verdict, = run.events('checked')
    assert all(ADDRESS.search(line['text']) is None for line in steps.values()), f'an address: {steps}'
    return steps, verdict


@mark.parametrize('family', FAMILIES)
def test_check_of_a_family(family, tmp_path):
    """`check` on a family of controllers names it, connects to a second controller, and says what is weak, with advice"""
    report = tmp_path / 'report.md'
    done = subprocess.run([BLETOOL, '-t', f'sim:{family}', '--state', str(tmp_path / 'state'), 'check', '--with', 'sim', '--seconds', '5',
                           '--report', str(report)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f'not usable:\n{done.stdout}{done.stderr}'
    assert FAMILIES[family] in done.stdout, done.stdout
    for words in WORDS.get(family, []):
        assert words in done.stdout, f'no {words!r} in\n{done.stdout}'
    for step in ('scan', 'hear', 'connect', 'write', 'latency', 'notify', 'advertise', 'reset'):
        assert re.search(rf'^(ok|weak) +{step} ', done.stdout, re.M), f'{step} is no success:\n{done.stdout}'
    text = report.read_text(encoding='utf-8')
    assert not ADDRESS.search(text), f'an address in the report:\n{text}'
    assert f'sim:{family}' in text.splitlines()[-1]


# Bumble's legacy controllers deliver no advertising that is not connectable.
@mark.lab(('simulator', 'bumble'), peer=False)
def test_check_of_a_controller(lab):
    """`check` of a controller beside another one: links both ways, a reset, and a verdict; `info` has what it says of the chip"""
    steps, verdict = check(lab, '--with', lab.peer_endpoint, '--seconds', '4')
    assert verdict['verdict'] in ('ok', 'weak'), verdict
    for step in ('scan', 'hear', 'connect', 'write', 'latency', 'notify', 'advertise', 'reset'):
        assert steps[step]['verdict'] in ('ok', 'weak'), steps[step]
    assert steps['write']['figures']['lost'] == steps['notify']['figures']['lost'] == 0
    info, = lab.run('info').events('controller')
    assert info['family'] == steps['chip']['figures']['family'] and info['learned'] is not None


@mark.lab(('simulator',), peer=False)
def test_check_pairs(lab):
    """`check --pair` pairs with the second adapter and keeps no bond"""
    run = lab.run('check', '--with', lab.peer_endpoint, '--seconds', '3', '--pair', timeout=12 * PATIENCE)
    pair, = [line for line in run.events('check') if line['step'] == 'pair']
    assert pair['verdict'] == 'ok' and pair['figures']['secureConnections'], pair
    assert lab.run('bonds').events('bond') == []


@mark.lab(('simulator',), peer=False)
def test_check_through_bled(lab):
    """`check` through bled scans and does nothing else, and says so; a second adapter is refused"""
    socket = f'bled:{lab.bled(lab.endpoint)}'
    steps, verdict = check(lab, '--seconds', '1', via=socket)
    for step in ('hear', 'connect', 'write', 'latency', 'notify', 'advertise', 'reset'):
        assert steps[step]['verdict'] == 'skipped' and 'bled' in steps[step]['text'], steps[step]
    assert verdict['text'].endswith('as far as a shared controller can be checked'), verdict
    lab.run('check', '--with', lab.peer_endpoint, via=socket, status=2)


@mark.lab(('simulator',), peer=False)
def test_report_of_a_check(lab):
    """`check --report` writes what was found, without the addresses and the paths of the controllers"""
    path = lab.path('report.md')
    lab.run('check', '--with', lab.peer_endpoint, '--seconds', '2', '--report', path, timeout=12 * PATIENCE)
    text = pathlib.Path(path).read_text(encoding='utf-8')
    assert not ADDRESS.search(text) and lab.dir not in text, text
    assert all(f'| {step} |' in text for step in STEPS)
    # A place that cannot be written is said before anything else.
    lab.run('check', '--report', os.path.join(lab.dir, 'no', 'report.md'), status=1)


def test_scan_that_is_refused(bench):
    """A controller that refuses to scan: `lescan` fails with the name of the command, and does not say that no device was heard (A78)"""
    bench.controller.answers[SET_SCAN_ENABLE] = lambda parameters: b'\x0c' if parameters[:1] == b'\1' else b'\0'
    run = bench.run('lescan', '--duration', '3', status=1, timeout=4 * PATIENCE)
    error, = run.events('error')
    assert 'LE Set Scan Enable' in error['message'], error
    assert 'bletool: no device was heard' not in run.stderr, run.stderr


def test_scan_without_an_answer(bench):
    """A controller that hangs at the first scan: `lescan` fails, names the command, and the remedy (A78)"""
    bench.controller.answers[SET_SCAN_ENABLE] = lambda parameters: SILENT
    run = bench.run('lescan', '--duration', '3', status=1, timeout=4 * PATIENCE)
    error, = run.events('error')
    assert error['code'] == 'controllerSilent' and 'LE Set Scan Enable' in error['message'], error
    assert 'unplug' in error['message'] or 'reset' in error['message'], error


def test_scan_of_an_empty_place(bench):
    """A controller that scans where no device is: that is said, and is no failure"""
    run = bench.run('lescan', '--duration', '1')
    assert 'no device was heard' in run.stderr


def test_check_of_a_deaf_controller(bench):
    """`check` of a controller that hangs at the first scan: not usable, and the failed step names the command"""
    bench.controller.answers[SET_SCAN_ENABLE] = lambda parameters: SILENT
    run = bench.run('check', '--seconds', '3', status=1, timeout=8 * PATIENCE)
    scan, = [line for line in run.events('check') if line['step'] == 'scan']
    assert scan['verdict'] == 'failed' and 'LE Set Scan Enable' in scan['text'], scan
    verdict, = run.events('checked')
    assert verdict['verdict'] == 'failed' and verdict['text'].startswith('not usable'), verdict

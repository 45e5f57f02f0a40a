"""What another user of this machine reads of a program's arguments, and what a peer writes on the terminal of a channel."""
import os, pathlib, subprocess

import pytest

from attack.test_honest import PROFILE

NOBODY = 65534
KEY = '231d39c1d7cc1ab1aee224cd096db932'


def seen_by_others(process):
    """The arguments of a process, as another user reads them."""
    if os.geteuid() != 0:
        pytest.skip('another user is needed: run as root')
    read = subprocess.run(['/bin/cat', f'/proc/{process.pid}/cmdline'], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True)
    assert read.returncode == 0, f'nothing is read: {read.stderr}'
    return read.stdout.split(b'\0')


def test_passkey_among_the_arguments(bench):
    """Another user does not read the passkey of `serve` among its arguments, whether it is a word of its own or not"""
    for words in (['--passkey', '271828'], ['--passkey=271828']):
        tool = bench.serve(PROFILE, '--io', 'display', '--mitm', *words)
        seen = seen_by_others(tool.process)
        assert b'271828' not in b' '.join(seen), seen
        assert any(word.startswith(b'--passkey') for word in seen) and b'--mitm' in seen, f'nothing else is hidden: {seen}'
        bench.stop(tool)


def test_key_among_the_arguments(bench):
    """Another user does not read the key of a sensor among the arguments of `lescan`"""
    tool = bench.start('lescan', '--key', KEY, '--key=C0:DE:00:00:00:01/random=' + KEY)
    bench.controller.wait(lambda: bench.controller.scanning, 'scanning')
    seen = seen_by_others(tool.process)
    assert KEY.encode() not in b' '.join(seen) and b'--key' in seen, seen
    bench.stop(tool)


def test_passkey_of_a_file(bench):
    """A passkey comes from a file or from standard input as well; what is none is refused without a word of it"""
    path = bench.path('passkey')
    for text, status in (('271828\n', None), ('27182\n', 2)):
        pathlib.Path(path).write_text(text)
        os.chmod(path, 0o600)
        for name in (path, '-'):
            with open(path) as given:
                tool = bench.start('serve', '--profile', bench.profile({'services': []}), '--io', 'display', '--mitm',
                                   '--passkey-file', name, stdin=given)
                if status is None:
                    tool.wait_event('advertising')
                    bench.stop(tool)
                else:
                    result = bench.finish(tool)
                    assert result.status == status, f'exit status: {result.describe()}'
                    assert 'six digits' in result.stderr and '27182' not in result.stderr, result.stderr

"""Rows about whole captures: `bletool decode` compared with tshark and btmon, on one file that is made here from Fixtures/.

  captures.py BLETOOL [WORD]…      words choose rows by name; prints rows for `table.py`

The file repeats the sessions over Bumble and btvirt until it has 300,000 packets: advertising, discovery, reads, notifications.
A larger one has reports alone."""
import os, random, re, shutil, struct, subprocess, sys, tempfile, time

from rows import ROOT, row

from jelling.captures import records

PACKETS = 300_000
PEER_PACKETS = 100_000
REPORTS = 2_000_000
SESSIONS = ('bumble-session', 'bumble-legacy-session', 'btvirt-session')


def made(path, packets):
    """A capture of at least this many packets, the sessions one after the other, a millisecond apart."""
    sessions = [list(records(os.path.join(ROOT, 'Fixtures', name + '.btsnoop'))) for name in SESSIONS]
    count, clock = 0, sessions[0][0][1]
    with open(path, 'wb') as f:
        f.write(b'btsnoop\0' + struct.pack('>II', 1, 1002))
        while count < packets:
            for session in sessions:
                start = session[0][1]
                for flags, when, packet in session:
                    f.write(struct.pack('>IIIIq', len(packet), len(packet), flags, 0, clock + when - start) + packet)
                clock += session[-1][1] - start + 1000
                count += len(session)
    return count


def memory_of(pid):
    """(all memory at its peak, memory now that is not pages of files) of a process, in bytes; zeros when it has ended.

    Not `ru_maxrss`: that begins with what the starting process had, which is this one with its captures."""
    with open(f'/proc/{pid}/status') as f:
        fields = dict(line.split(':', 1) for line in f)
    return tuple(int(fields[name].split()[0]) * 1024 if name in fields else 0 for name in ('VmHWM', 'RssAnon'))


def run(command):
    """(processor seconds, peak memory, of it not pages of files) of a command, the least of three; None when it fails"""
    best = None
    for _ in range(3 if command[0].endswith('bletool') else 1):
        with open(os.devnull, 'wb') as null:
            child = subprocess.Popen(command, stdout=null, stderr=null, stdin=subprocess.DEVNULL)
            peak = own = 0
            while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                now = memory_of(child.pid)
                peak, own = max(peak, now[0]), max(own, now[1])
                time.sleep(0.002)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
        if status:
            return None
        took = usage.ru_utime + usage.ru_stime
        if best is None or took < best[0]:
            best = (took, peak, own)
    return best


def instructions(command):
    """How many instructions a command executes, by valgrind; None without it."""
    if not shutil.which('valgrind'):
        return None
    done = subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r'Collected : (\d+)', done.stderr)
    return int(found[1]) if found else None


def reports(path, count):
    """A capture of advertising reports alone, legacy and extended ones, of 3,000 devices."""
    chance = random.Random(7)
    packets = []
    for number in range(3000):
        name = b'Device %d' % number
        data = b'\2\1\6' + (bytes([len(name) + 1, 9]) + name if number % 3 == 0 else b'') + b'\x0b\xff\x4c\0' + chance.randbytes(8)
        address = chance.randbytes(6)
        if number % 4:
            body = b'\2\1\0\1' + address + bytes([len(data)]) + data + bytes([0xC0])
        else:
            body = b'\x0d\1\x13\0\1' + address + b'\1\0\xff\x7f\xc0' + bytes(9) + bytes([len(data)]) + data
        packets.append(b'\4\x3e' + bytes([len(body)]) + body)
    clock = next(iter(records(os.path.join(ROOT, 'Fixtures', SESSIONS[0] + '.btsnoop'))))[1]
    with open(path, 'wb') as f:
        f.write(b'btsnoop\0' + struct.pack('>II', 1, 1002))
        for number in range(count):
            packet = chance.choice(packets)
            f.write(struct.pack('>IIIIq', len(packet), len(packet), 3, 0, clock + number * 700) + packet)
    return count


def main():
    bletool, words = sys.argv[1], sys.argv[2:]
    names = {'decode a capture, counted (--summary)': (['--summary'], 1.5e7, 'tshark', ['tshark', '-n', '-q', '-z', 'io,phs', '-r']),
             'decode a capture to full text': ([], 5e6, 'btmon', ['btmon', '-r']),
             'decode a capture to JSON': (['--json'], None, 'tshark', ['tshark', '-n', '-V', '-r'])}
    chosen = {n: v for n, v in names.items() if not words or any(w in n for w in words)}
    many = 'decode a capture of reports, counted (--summary)'
    wants_many = not words or any(w in many for w in words)
    if not chosen and not wants_many:
        return
    with tempfile.TemporaryDirectory(prefix='jelling-captures-') as folder:
        large, small = os.path.join(folder, 'large.btsnoop'), os.path.join(folder, 'small.btsnoop')
        count, fewer = made(large, PACKETS), made(small, PEER_PACKETS)
        longer, empty = os.path.join(folder, 'longer.btsnoop'), os.path.join(folder, 'empty.btsnoop')
        most = made(longer, 4 * PACKETS)
        made(empty, 0)
        for name, (options, budget, peer, command) in chosen.items():
            ours = run([bletool, 'decode', large, *options])
            grown = run([bletool, 'decode', longer, *options])
            theirs = run([*command, small]) if shutil.which(peer) else None
            if ours is None or grown is None:
                row(name, remark='bletool failed')
                continue
            # Of the longer file, where the start of the program counts less.
            said = f'{fewer / theirs[0]:,.0f} packets/s by {peer}' if theirs else f'{peer} is missing or fails on the file'
            row(name, most / grown[0], 'packets/s', f'>={budget}' if budget else '', '', fewer / theirs[0] if theirs else '', said)
            whole, start = [instructions([bletool, 'decode', path, *options]) for path in (small, empty)]
            if whole and start:
                row(name + ', instructions', (whole - start) / fewer, 'a packet',
                    remark=f'and {start / 1e6:.0f} million for the start')
            row(name + ', peak memory', ours[1] / 2**20, 'MB', '<=10', '', theirs[1] / 2**20 if theirs else '', f'{count:,} packets')
            row(name + ', peak memory, four times the packets', grown[1] / 2**20, 'MB', '<=10', '')
            row(name + ', of it not pages of the program', ours[2] / 2**20, 'MB', '<=4', '', theirs[2] / 2**20 if theirs else '')
        if wants_many:
            path = os.path.join(folder, 'reports.btsnoop')
            count = reports(path, REPORTS)
            ours = run([bletool, 'decode', path, '--summary'])
            row(many, count / ours[0] if ours else '', 'packets/s', '>=1.5e7', '', '',
                f'{os.path.getsize(path) >> 20} MB' if ours else 'bletool failed')


main()

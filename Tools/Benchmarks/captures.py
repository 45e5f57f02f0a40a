"""Rows about whole captures: `bletool decode` compared with tshark and btmon, on one file that is made here from Fixtures/.

  captures.py BLETOOL [WORD]…      words choose rows by name; prints rows for `table.py`

The file repeats the sessions over Bumble and btvirt until it has 300,000 packets: advertising, discovery, reads, notifications."""
import os, shutil, struct, subprocess, sys, tempfile, time

from rows import ROOT, row

from jelling.captures import records

PACKETS = 300_000
PEER_PACKETS = 100_000
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
    """(processor seconds, peak memory, of it not pages of files) of a command, the best of three; None when it fails"""
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


def main():
    bletool, words = sys.argv[1], sys.argv[2:]
    names = {'decode a capture, counted (--summary)': (['--summary'], 3e6, 'tshark', ['tshark', '-n', '-q', '-z', 'io,phs', '-r']),
             'decode a capture to full text': ([], 1e6, 'btmon', ['btmon', '-r']),
             'decode a capture to JSON': (['--json'], None, 'tshark', ['tshark', '-n', '-V', '-r'])}
    chosen = {n: v for n, v in names.items() if not words or any(w in n for w in words)}
    if not chosen:
        return
    with tempfile.TemporaryDirectory(prefix='jelling-captures-') as folder:
        large, small = os.path.join(folder, 'large.btsnoop'), os.path.join(folder, 'small.btsnoop')
        count, fewer = made(large, PACKETS), made(small, PEER_PACKETS)
        longer = os.path.join(folder, 'longer.btsnoop')
        made(longer, 4 * PACKETS)
        for name, (options, budget, peer, command) in chosen.items():
            ours = run([bletool, 'decode', large, *options])
            theirs = run([*command, small]) if shutil.which(peer) else None
            if ours is None:
                row(name, remark='bletool failed')
                continue
            said = f'beside {peer}' if theirs else f'{peer} is missing or fails on the file'
            row(name, count / ours[0], 'packets/s', f'>={budget}' if budget else '', '', fewer / theirs[0] if theirs else '', said)
            grown = run([bletool, 'decode', longer, *options])
            row(name + ', peak memory', ours[1] / 2**20, 'MB', '<=12', '', theirs[1] / 2**20 if theirs else '',
                f'{grown[1] / 2**20:.1f} MB with four times the packets' if grown else '')
            row(name + ', of it not pages of the program', ours[2] / 2**20, 'MB', '<=4', '', theirs[2] / 2**20 if theirs else '')


main()

"""Thousands of links to a Bumble peripheral, one after the other, from one process: nothing may be left of them.

  soak.py SOAK COUNT [KIND]     SOAK: the program of that name in this package; KIND: btvirt (default), bumble, simulator or radio

`radio` needs no Bumble: both ends are in SOAK, on the simulator, as fast as they keep up.

Each link discovers, writes, and is notified; every hundredth pairs, the others use the bond. Prints what SOAK says of its memory and,
at the end, a line that counts; exit status 1 when a link failed or the memory grew by more than 4 MiB after the first fifth."""
import json, os, subprocess, sys, time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'Tests', 'System'))
from jelling.lab import PEER_ADDRESS, Lab   # noqa: E402

SOAK, COUNT = os.path.abspath(sys.argv[1]), int(sys.argv[2])
ROOM = 4096     # KiB


def main():
    kind = sys.argv[3] if len(sys.argv) > 3 else 'btvirt'
    if kind == 'radio':
        return follow(kind, [SOAK, kind, str(COUNT)], lambda: None)
    lab = Lab(kind)
    lab.every_link_ends_by_us = False

    def forget():
        """What the peer said is not needed, and there is much of it."""
        with lab.peer.changed:
            del lab.peer.lines[:-100]

    try:
        lab.open(peer=False)
        lab.start_peer('--adv-interval', '20')
        return follow(kind, [SOAK, lab.endpoint, PEER_ADDRESS + '/random', str(COUNT)], forget)
    finally:
        lab.close()


def follow(kind, command, at_each_line):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    memory, last = [], {}
    for line in process.stdout:
        last = json.loads(line)
        print(f'{time.monotonic() - start:7.1f} s  {line}', end='', flush=True)
        if last['event'] == 'progress':
            memory.append(last['residentKiB'])
        at_each_line()
    process.wait()
    growth = memory[-1] - memory[len(memory) // 5] if len(memory) > 5 else 0
    done = last.get('event') == 'done' and not last['failures']
    print(f'{"passed" if done and growth <= ROOM else "failed"}: {COUNT} links over {kind} in {time.monotonic() - start:.0f} s, '
          f'memory grew by {growth} KiB after the first fifth')
    return 0 if done and growth <= ROOM else 1


sys.exit(main())

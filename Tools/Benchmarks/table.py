"""Prints the rows that come in as one table, each as soon as it comes.

  … | table.py [--check]      --check: exit status 1 when a row that is checked is over its budget, and a last line that counts

A row is a line of seven fields between tabs: name, value, unit, budget (`<=X`, `>=X`, `<=X*peer` or nothing), `check`
or nothing, the peer's value or nothing, remark. No value means that it was not measured, and the remark says why; with
`check` it should have been, and counts as over the budget."""
import sys

WIDTHS = (68, 12, 12, 14, 12, 8)


def show(number):
    if number == int(number) and abs(number) < 1e15:
        return f'{int(number):,}'
    return f'{number:,.0f}' if abs(number) >= 1000 else f'{number:.2f}'


def line(*columns, remark=''):
    text = columns[0].ljust(WIDTHS[0]) + ''.join(c.rjust(w) for c, w in zip(columns[1:], WIDTHS[1:]))
    print((text + '  ' + remark).rstrip(), flush=True)


line('what', 'value', 'unit', 'budget', 'peer', 'ratio')
over = rows = checked = 0
for text in sys.stdin:
    name, value, unit, budget, check, peer, remark = text.rstrip('\n').split('\t')
    rows += 1
    checked += bool(check)
    if not value:
        over += bool(check)
        line(name, '-', unit, '', '', '', remark=remark)
        continue
    value, peer = float(value), float(peer) if peer else None
    shown, missed = '', False
    if budget:
        limit, of_peer, _ = budget[2:].partition('*')
        limit = float(limit)
        shown = ('≤ ' if budget[0] == '<' else '≥ ') + show(round(limit, 2)) + (' × peer' if of_peer else '')
        bound = limit * peer if of_peer else limit
        missed = value > bound if budget[0] == '<' else value < bound
    if missed:
        remark = ('OVER BUDGET ' if check else 'over budget ') + remark
        over += bool(check)
    line(name, show(value), unit, shown, show(peer) if peer else '', f'{value / peer:.2f}' if peer else '', remark=remark)
if not rows:
    print('no row is named so')
    sys.exit(2)
print(f'{rows} rows, {over} of the checked ones over budget')
if '--check' in sys.argv:
    print(f'{checked - over} passed, {over} failed')
sys.exit(1 if over and '--check' in sys.argv else 0)

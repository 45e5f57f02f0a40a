"""What Documentation/JSON.md says about lines of JSON, and whether a line is as it says."""
import json, os, re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {'string': str, 'integer': int, 'number': (int, float), 'boolean': bool, 'array': list, 'object': dict, 'null': type(None)}
COMMON = {'time': ([str], False), 'adapter': ([str, type(None)], False)}
TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z')


def fits(value, types):
    # Python counts booleans as integers.
    return any(isinstance(value, t) and (isinstance(value, bool) <= (t is bool)) for t in types)


class Page:
    """`events`: {event: {key: (types, is optional)}}; `words`: {event: words of its section that may be keys of objects in its lines};
    `codes` of errors; `in_c`: events that only ble-gw prints."""

    def __init__(self, path=os.path.join(ROOT, 'Documentation', 'JSON.md')):
        self.events, self.words, self.codes, self.in_c = {}, {}, set(), set()
        event, title, section = None, '', ''
        with open(path, encoding='utf-8') as lines:
            for line in lines:
                if event is not None and not line.startswith('#'):
                    self.words.setdefault(title, set()).update(re.findall(r'`(\w+)`', line))
                if m := re.match(r'### (\w+)$', line):
                    title, event = m[1], self.events.setdefault(m[1], {})
                    if section == 'ble-gw':
                        self.in_c.add(m[1])
                elif line.startswith('#'):
                    event, section = None, line.strip('# \n')
                elif event is not None and (m := re.match(r'\| `(\w+)` \| ([^|]+) \|', line)):
                    text = m[2].strip()
                    types = re.sub(r', optional$', '', text).split(' or ')
                    event[m[1]] = ([TYPES[t] for t in types], text.endswith('optional'))
                elif line.startswith('| `') and (m := re.match(r'\| ((?:`\w+`(?:, )?)+) \| [^|]+\|$', line)):
                    self.codes |= set(re.findall(r'`(\w+)`', m[1]))

    def unknown(self, event, value):
        """The keys of the objects in a value that the event's section does not name. The names of counters are no keys of the page."""
        if isinstance(value, list):
            return set().union(*(self.unknown(event, entry) for entry in value))
        if not isinstance(value, dict):
            return set()
        return {key for key in value if key not in self.words[event]}.union(
            *(self.unknown(event, entry) for key, entry in value.items() if key != 'counters'))

    def look(self, line):
        """(the event or None, the code of an error or None, what is wrong or '')"""
        try:
            found = json.loads(line)
        except ValueError:
            return None, None, f'no JSON: {line[:200]}'
        event = found.pop('event', None)
        if event not in self.events:
            return None, None, f'the page has no event {event}: {line[:200]}'
        wanted = {**({} if event == 'packet' else COMMON), **self.events[event]}
        missing = [k for k, (_, optional) in wanted.items() if not optional and k not in found]
        unknown = [k for k in found if k not in wanted]
        wrong = [k for k, v in found.items() if k in wanted and not fits(v, wanted[k][0])]
        if event != 'packet' and not TIME.fullmatch(str(found.get('time'))):
            wrong.append('time')
        code = found.get('code') if event == 'error' else None
        if event == 'error' and code not in self.codes:
            wrong.append('code')
        fault = f'missing {missing}, unknown {unknown}, of another type {wrong}: {line[:300]}'
        return event, code, fault if missing or unknown or wrong else ''

"""What comes from the broker: total decoders. None stands for everything that is not as it should be."""
import collections, json, math, re

from .handover import Record

ADDRESS = re.compile(r'[0-9A-F]{2}(?::[0-9A-F]{2}){5}')
# A level of a topic that cannot be mistaken for a wildcard or for several.
LEVEL = re.compile(r'[^/+#\x00-\x1f\x7f\ud800-\udfff]{1,256}')
Document = collections.namedtuple('Document', 'gateway address rssi')
Presence = collections.namedtuple('Presence', 'state group run by')
STATES = ('online', 'stopped', 'lost', 'adopted')


def parsed(payload):
    """A JSON object."""
    try:
        value = json.loads(payload.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def level(value):
    return value if isinstance(value, str) and LEVEL.fullmatch(value) else None


def strength(value):
    """A signal strength in dBm; a Boolean value is none."""
    if type(value) not in (int, float) or not -200 <= value <= 50 or not math.isfinite(value):
        return None
    return value


def document(payload):
    """A gateway's document. A device that has an identity keeps it when it changes its address."""
    value = parsed(payload)
    if value is None:
        return None
    gateway, address, rssi = level(value.get('gateway')), value.get('address'), strength(value.get('rssiSmoothed', value.get('rssi', -127)))
    if gateway is None or rssi is None or not isinstance(address, str) or not ADDRESS.fullmatch(address):
        return None
    identity = value.get('identity')
    if isinstance(identity, dict):
        lasting = identity.get('address')
        if isinstance(lasting, str) and ADDRESS.fullmatch(lasting):
            address = lasting
        else:
            address = level(identity.get('name')) or address
    return Document(gateway, address, rssi)


def best(payload):
    value = parsed(payload)
    if value is None:
        return None
    gateway, rssi, challenger = level(value.get('gateway')), strength(value.get('rssi')), value.get('challenger')
    if gateway is None or rssi is None or challenger is not None and level(challenger) is None:
        return None
    return Record(gateway, rssi, challenger)


def presence(payload):
    value = parsed(payload)
    if value is None or value.get('state') not in STATES:
        return None
    group, run, by = level(value.get('group')), value.get('run'), value.get('by')
    if group is None or any(v is not None and level(v) is None for v in (run, by)):
        return None
    return Presence(value['state'], group, run, by)


def encoded(record):
    """What says the same; without what is None."""
    return json.dumps({k: v for k, v in record._asdict().items() if v is not None}).encode()


class Topics:
    """A template such as `jelling/{gateway}/devices/{address}`: the filter for all its topics, and what a topic stands for."""

    def __init__(self, template):
        self.template = template
        parts = re.split(r'\{(\w+)\}', template)
        self.names = parts[1::2]
        self.filter = '/'.join('+' if '{' in l else l for l in template.split('/'))
        pattern = ''.join(re.escape(p) if n % 2 == 0 else f'(?P<{p}>[^/]+)' for n, p in enumerate(parts))
        self.pattern = re.compile(pattern, re.S)

    def of(self, address):
        return self.template.replace('{address}', address).replace('{id}', address.replace(':', '').lower()).replace('{consumer}', address)

    def values(self, topic):
        """None if it is none of these topics."""
        found = self.pattern.fullmatch(topic)
        return found.groupdict() if found else None

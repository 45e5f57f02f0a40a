"""The settings: a file in YAML or JSON, and arguments, which override it."""
import argparse, copy, json, math, os, socket, ssl, stat, urllib.parse

from .documents import LEVEL, Topics

ABOUT = """\
Merges what a fleet of gateways reports: each device once, as the gateway
with the best signal has it.

  jelling-merge --mqtt mqtt://localhost
  jelling-merge --config /etc/jelling-merge/merge.yaml --name merge-1
  systemctl enable --now jelling-merge@1 jelling-merge@2

Any number of these may run, on one machine or several, each with a name of
its own. The broker gives each document to one of them (shared subscription,
MQTT 5), and they share what they know through the broker:

  jelling/GATEWAY/devices/ADDRESS  in    the documents of all gateways
  fleet/devices/ADDRESS            out   those of the best gateway
  fleet/best/ADDRESS               both  the best gateway, retained
  fleet/consumers/NAME             both  who merges, retained

A document is acknowledged when the broker has acknowledged the merged one,
so a consumer that dies loses nothing. What waits for one that does not return
is taken over by another. A password belongs in a file, also in the credential
"mqtt-password" of systemd. The exit status is 0 after SIGINT or SIGTERM, 1 if
it failed, and 2 for wrong usage or settings."""

DEFAULTS = {
    'name': None, 'group': 'merge', 'takeover': 10,
    'mqtt': {'url': None, 'version': '5', 'username': None, 'passwordFile': None, 'caFile': None, 'certFile': None, 'keyFile': None,
             'keepAlive': 30, 'longestBackoff': 60, 'inFlight': 100, 'sessionExpiry': 86400},
    'topics': {'device': 'jelling/{gateway}/devices/{address}', 'merged': 'fleet/devices/{address}', 'best': 'fleet/best/{address}',
               'consumer': 'fleet/consumers/{consumer}'},
    'handover': {'margin': 4, 'time': 5, 'silence': 180},
    'devices': {'most': 200_000, 'forget': 86400},
}
RANGES = {'takeover': (1, 86400), 'mqtt.keepAlive': (5, 65535), 'mqtt.longestBackoff': (1, 3600), 'mqtt.inFlight': (1, 1000),
          'mqtt.sessionExpiry': (60, 2 ** 32 - 2), 'handover.margin': (0, 100), 'handover.time': (0, 3600), 'handover.silence': (1, 86400),
          'devices.most': (1, 10_000_000), 'devices.forget': (1, 10 ** 9)}
WHOLE = ('mqtt.keepAlive', 'mqtt.longestBackoff', 'mqtt.inFlight', 'mqtt.sessionExpiry', 'devices.most')
LARGEST_FILE = 4_000_000


class Wrong(Exception):
    """Settings that cannot be used; says the key and the remedy."""


def read(path, key):
    """A regular file: a pipe in its place would be waited for."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb') as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Wrong(f'{key}: {path} is not a regular file')
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise Wrong(f'{key}: {path} cannot be read: {getattr(error, "strerror", None) or error}') from None
    if len(content) > LARGEST_FILE:
        raise Wrong(f'{key}: {path} is longer than 4 MB')
    return content


def load(path):
    content = read(path, '--config')
    try:
        text = content.decode()
        try:
            import yaml
        except ImportError:
            return json.loads(text)
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Wrong(f'{path}: {" ".join(str(error).split())}') from None
    except (ValueError, RecursionError) as error:
        raise Wrong(f'{path}: {error}; without PyYAML (python3-yaml) settings are JSON') from None


def merged(given, defaults, prefix=''):
    """The defaults with what is given; a key that is not known is an error."""
    if not isinstance(given, dict):
        raise Wrong(f'{prefix.rstrip(".") or "the settings"}: a mapping is wanted, such as {{{next(iter(defaults))}: …}}')
    values = copy.deepcopy(defaults)
    for key, value in given.items():
        name = f'{prefix}{key}'
        if key not in defaults:
            raise Wrong(f'{name}: unknown key; known: {", ".join(defaults)}')
        if isinstance(defaults[key], dict):
            values[key] = merged(value, defaults[key], name + '.')
        elif name in RANGES:
            low, high = RANGES[name]
            if type(value) not in ((int,) if name in WHOLE else (int, float)) or not low <= value <= high or not math.isfinite(value):
                raise Wrong(f'{name}: a {"whole " if name in WHOLE else ""}number from {low} to {high} is wanted')
            values[key] = value
        elif not isinstance(value, str):
            raise Wrong(f'{name}: a text is wanted')
        else:
            values[key] = value
    return values


class Settings:
    """Checked: what is here can be used."""

    def __init__(self, values):
        self.name = values['name'] or socket.gethostname()
        self.group, self.takeover = values['group'], values['takeover']
        for key, value in (('name', self.name), ('group', self.group)):
            if not LEVEL.fullmatch(value):
                raise Wrong(f'{key}: a level of a topic is wanted, without / + #')
        self.handover, self.devices = values['handover'], values['devices']
        self.topics = {key: self.topic(key, text) for key, text in values['topics'].items()}
        self.outputs_differ()
        mqtt = self.mqtt = values['mqtt']
        if mqtt['version'] != '5':
            raise Wrong('mqtt.version: only "5" has shared subscriptions')
        self.url(mqtt)
        if mqtt['passwordFile'] is None and 'CREDENTIALS_DIRECTORY' in os.environ:
            credential = os.path.join(os.environ['CREDENTIALS_DIRECTORY'], 'mqtt-password')
            mqtt['passwordFile'] = credential if os.path.exists(credential) else None
        if (mqtt['passwordFile'] or self.password_in_url) and not self.username:
            raise Wrong('mqtt.username: a password needs a user')
        if mqtt['passwordFile']:
            self.password()
        self.context = self.tls(mqtt)

    def topic(self, key, text):
        wanted = {'device': (), 'merged': ('address', 'id'), 'best': ('address',), 'consumer': ('consumer',)}[key]
        topics = Topics(text)
        if not text or len(text.encode(errors='replace')) > 1000 or any(c in text for c in '+#\0') or text.startswith('$'):
            raise Wrong(f'topics.{key}: a topic is wanted, without + # and $ at its begin')
        if key == 'device':
            if len(set(topics.names)) != len(topics.names) or not set(topics.names) <= {'gateway', 'address', 'id'}:
                raise Wrong('topics.device: {gateway}, {address} and {id} are possible, each once')
        elif len(topics.names) != 1 or topics.names[0] not in wanted or '{' + topics.names[0] + '}' not in text.split('/'):
            raise Wrong(f'topics.{key}: one level has to be {" or ".join("{" + w + "}" for w in wanted)}')
        return topics

    def outputs_differ(self):
        """What is merged must not be taken for a document of a gateway."""
        for key in ('merged', 'best', 'consumer'):
            example = self.topics[key].of('00:00:00:00:00:00')
            for other in self.topics:
                if other != key and self.topics[other].values(example) is not None:
                    raise Wrong(f'topics.{key}: topics.{other} includes these topics')

    def url(self, mqtt):
        if not mqtt['url']:
            raise Wrong('mqtt.url: the broker is missing, such as mqtt://localhost')
        try:
            url = urllib.parse.urlsplit(mqtt['url'])
            self.host, self.port = url.hostname, url.port
        except ValueError as error:
            raise Wrong(f'mqtt.url: {error}') from None
        if url.scheme not in ('mqtt', 'mqtts') or not self.host or url.path not in ('', '/') or url.query or url.fragment:
            raise Wrong('mqtt.url: mqtt://[USER[:PASSWORD]@]HOST[:PORT] or mqtts://… is wanted')
        self.is_tls = url.scheme == 'mqtts'
        self.port = self.port or (8883 if self.is_tls else 1883)
        self.username = urllib.parse.unquote(url.username) if url.username else mqtt['username']
        self.password_in_url = urllib.parse.unquote(url.password) if url.password else None

    def password(self):
        """Read at each connection."""
        if not self.mqtt['passwordFile']:
            return self.password_in_url
        line = read(self.mqtt['passwordFile'], 'mqtt.passwordFile').split(b'\n', 1)[0].rstrip(b'\r')
        if not 0 < len(line) <= 65535:
            raise Wrong(f'mqtt.passwordFile: {self.mqtt["passwordFile"]} has no password in its first line')
        return line

    def tls(self, mqtt):
        files = [k for k in ('caFile', 'certFile', 'keyFile') if mqtt[k]]
        if not self.is_tls:
            if files:
                raise Wrong(f'mqtt.{files[0]}: only with mqtts://')
            return None
        if bool(mqtt['certFile']) != bool(mqtt['keyFile']):
            raise Wrong('mqtt.certFile and mqtt.keyFile belong together')
        for key in files:
            read(mqtt[key], f'mqtt.{key}')
        context = ssl.create_default_context()
        try:
            if mqtt['caFile']:
                context = ssl.create_default_context(cafile=mqtt['caFile'])
        except (OSError, ssl.SSLError):
            raise Wrong(f'mqtt.caFile: {mqtt["caFile"]} has no certificate in PEM form') from None
        try:
            if mqtt['certFile']:
                context.load_cert_chain(mqtt['certFile'], mqtt['keyFile'], password=lambda: '')
        except (OSError, ssl.SSLError, ValueError) as error:
            raise Wrong(f'mqtt.certFile, mqtt.keyFile: {error}') from None
        return context


def parser():
    result = argparse.ArgumentParser(prog='jelling-merge', description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    for name, value, said in (
            ('mqtt', 'URL', 'the broker, mqtt://[USER[:PASSWORD]@]HOST[:PORT] or mqtts://…'),
            ('mqtt-password-file', 'FILE', 'a file with the password for the broker, read at each connection'),
            ('name', 'NAME', 'the name of this consumer, which no other has; by default that of the machine'),
            ('config', 'FILE', 'a file with settings, in YAML or JSON')):
        result.add_argument(f'--{name}', metavar=value, help=said)
    result.add_argument('--check', action='store_true', help='check the settings and the files that they name, and do nothing else')
    result.add_argument('--counts', metavar='SECONDS', type=float, help='print counts as JSON, and the time between two lines')
    return result


def of(arguments):
    values = load(arguments.config) if arguments.config else {}
    values = merged({} if values is None else values, DEFAULTS)
    if arguments.mqtt:
        values['mqtt']['url'] = arguments.mqtt
    if arguments.mqtt_password_file:
        values['mqtt']['passwordFile'] = arguments.mqtt_password_file
    if arguments.name:
        values['name'] = arguments.name
    if arguments.counts is not None and not 0.05 <= arguments.counts <= 86400:
        raise Wrong('--counts: a time from 0.05 to 86400 seconds is wanted')
    return Settings(values)

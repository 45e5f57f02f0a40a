"""Devices that are recognised by their bonds, and the controller of a daemon."""
import json, os, signal

from bench import Lab, wait_until
from gateway_cases import PEER, SENSOR, case, need


def bonded_lab(b, endpoints):
    """A peer that shows private addresses only, and keeps its keys in a file."""
    lab = b.lab('--privacy', '--keystore', b.path('keys.json'), *SENSOR, endpoints=endpoints)
    return lab


def restart_peer(b, lab):
    """Under another private address."""
    lab.peer.end()
    lab.start_peer('--privacy', '--keystore', b.path('keys.json'), *SENSOR)


def known(document):
    return document.get('identity', {}).get('address') == PEER


@case('a device that bletool has bonded with while the gateway runs is recognised under its private addresses')
def bonds(b):
    b.start_broker()
    lab = bonded_lab(b, 3)
    heard = b.subscribe('jelling/#')
    # Where bletool keeps its bonds if it has the same state folder.
    folder = lab.path('state/jelling/security')
    os.makedirs(folder, 0o700)
    file = b.write('gateway.yaml', f'name: g\nadapters: ["{lab.endpoints[2]}"]\nmqtt: {{url: "{b.url}"}}\nbonds: {folder}\n'
                                   f'publish: {{refresh: 1}}\npresence: {{timeout: 30}}\n')
    gateway = b.start('--config', file)
    strange = heard.wait(lambda t, p, r: '/devices/' in t and '"BumblePeer"' in p, 'document of a stranger')[0]
    need('identity' not in json.loads(strange[1]), f'known before it was bonded: {strange}')
    lab.run('pair', 'BumblePeer')
    topic = f'jelling/g/devices/{PEER}'
    heard.wait(lambda t, p, r: t == topic, 'document of the bonded device')
    heard.wait(lambda t, p, r: t == f'jelling/g/presence/{PEER}' and p == 'home', 'presence of the bonded device')
    first = heard.documents(PEER)[-1]
    need(known(first) and first['address'] != PEER and first['values'], f'{first}')
    restart_peer(b, lab)
    heard.wait(lambda t, p, r: t == topic and first['address'] not in p, 'document under its next address')
    need(known(heard.documents(PEER)[-1]), f'{heard.documents(PEER)[-1]}')
    gateway.end()
    need(gateway.process.returncode == 0, gateway.stderr()[-300:])


@case('with the controller of bled: documents, identities that it resolves, beside bletool; bled is killed and comes back')
def daemon(b):
    b.start_broker()
    lab = bonded_lab(b, 2)
    heard = b.subscribe('jelling/#')
    socket = lab.bled(lab.endpoint)
    port_file = b.write('gateway.yaml', f'name: g\nadapters: ["bled:{socket}"]\nmqtt: {{url: "{b.url}"}}\npublish: {{refresh: 1}}\n')
    gateway = b.start('--config', port_file)
    heard.wait(lambda t, p, r: '/devices/' in t and '"BumblePeer"' in p, 'document')
    # The same controller, at the same time.
    lab.run('pair', 'BumblePeer', via=f'bled:{socket}')
    topic = f'jelling/g/devices/{PEER}'
    heard.wait(lambda t, p, r: t == topic, 'document of the bonded device')
    found = heard.documents(PEER)[-1]
    need(known(found) and found['values'] == {'temperature': 25, 'humidity': 50.55}, f'{found}')
    need(found['adapter'] == f'bled:{socket}', f'{found["adapter"]}')
    restart_peer(b, lab)
    count = len(heard.documents(PEER))
    wait_until(lambda: len(heard.documents(PEER)) >= count + 3, 'documents under its next address')
    daemon = next(c for c in lab.children if c.name == 'bled')
    daemon.end(signal.SIGKILL)
    b.wait_stderr(gateway, f'bled:{socket}: ')
    lab.daemons.clear()
    os.unlink(socket)
    again = lab.bled(lab.endpoint)
    os.symlink(again, socket)
    count = len(heard.documents(PEER))
    wait_until(lambda: len(heard.documents(PEER)) > count, 'documents from the next daemon')
    b.wait_stderr(gateway, 'works again')
    gateway.end()
    need(gateway.process.returncode == 0, gateway.stderr()[-300:])


@case('without -t, the gateway uses the daemon whose socket JELLING_SOCKET names')
def shared(b):
    lab = Lab('bumble')
    b.labs.append(lab)
    socket = lab.bled('sim')
    child = b.run('--print', '--count', '2', environment={'JELLING_SOCKET': socket})
    need([l['adapter'] for l in child.lines] == [f'bled:{socket}'] * 2, f'{child.lines}')

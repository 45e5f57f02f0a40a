"""Devices that are recognised by their bonds, and the controller of a daemon."""
import json, os, signal

from jelling.gateway import PEER, SENSOR, wait_until
from jelling.lab import Lab


def bonded_lab(bench, endpoints):
    """A peer that shows private addresses only, and keeps its keys in a file."""
    lab = bench.lab('--privacy', '--keystore', bench.path('keys.json'), *SENSOR, endpoints=endpoints)
    return lab


def restart_peer(bench, lab):
    """Under another private address."""
    lab.peer.end()
    lab.start_peer('--privacy', '--keystore', bench.path('keys.json'), *SENSOR)


def known(document):
    return document.get('identity', {}).get('address') == PEER


def test_bonds(bench):
    """a device that bletool has bonded with while the gateway runs is recognised under its private addresses"""
    bench.start_broker()
    lab = bonded_lab(bench, 3)
    heard = bench.subscribe('jelling/#')
    # Where bletool keeps its bonds if it has the same state folder.
    folder = lab.path('state/jelling/security')
    os.makedirs(folder, 0o700)

    def settings(folder):
        return (f'name: g\nadapters: ["{lab.endpoints[2]}"]\nmqtt: {{url: "{bench.url}"}}\nbonds: {folder}\n'
                f'publish: {{refresh: 1}}\npresence: {{timeout: 30}}\n')
    gateway = bench.configured(settings(folder))
    strange = heard.wait(lambda t, p, r: '/devices/' in t and '"BumblePeer"' in p, 'document of a stranger')[0]
    assert 'identity' not in json.loads(strange[1]), f'known before it was bonded: {strange}'
    lab.run('pair', 'BumblePeer')
    topic = f'jelling/g/devices/{PEER}'
    heard.wait(lambda t, p, r: t == topic, 'document of the bonded device')
    heard.wait(lambda t, p, r: t == f'jelling/g/presence/{PEER}' and p == 'home', 'presence of the bonded device')
    first = heard.documents(PEER)[-1]
    assert known(first) and first['address'] != PEER and first['values'], first
    restart_peer(bench, lab)
    heard.wait(lambda t, p, r: t == topic and first['address'] not in p, 'document under its next address')
    assert known(heard.documents(PEER)[-1]), heard.documents(PEER)[-1]
    # The bonds of another folder count at once: there are none.
    bench.write('gateway.yaml', settings(bench.path('others')))
    gateway.wait_stderr('in force: ‘identities’ and ‘bonds’')
    count = len(heard.documents())
    wait_until(lambda: any('identity' not in d for d in heard.documents()[count:]), 'a stranger again')
    bench.write('gateway.yaml', settings(folder))
    count = len(heard.documents(PEER))
    wait_until(lambda: len(heard.documents(PEER)) > count, 'the bonded device again')
    gateway.ends_well()


def test_daemon(bench):
    """with the controller of bled: documents, identities that it resolves, beside bletool; bled is killed and comes back"""
    bench.start_broker()
    lab = bonded_lab(bench, 2)
    heard = bench.subscribe('jelling/#')
    socket = lab.bled(lab.endpoint)
    gateway = bench.configured(f'name: g\nadapters: ["bled:{socket}"]\nmqtt: {{url: "{bench.url}"}}\npublish: {{refresh: 1}}\n')
    heard.wait(lambda t, p, r: '/devices/' in t and '"BumblePeer"' in p, 'document')
    # The same controller, at the same time.
    lab.run('pair', 'BumblePeer', via=f'bled:{socket}')
    topic = f'jelling/g/devices/{PEER}'
    heard.wait(lambda t, p, r: t == topic, 'document of the bonded device')
    found = heard.documents(PEER)[-1]
    assert known(found) and found['values'] == {'temperature': 25, 'humidity': 50.55}, found
    assert found['adapter'] == f'bled:{socket}', found["adapter"]
    restart_peer(bench, lab)
    count = len(heard.documents(PEER))
    wait_until(lambda: len(heard.documents(PEER)) >= count + 3, 'documents under its next address')
    daemon = next(c for c in lab.children if c.name == 'bled')
    daemon.end(signal.SIGKILL)
    gateway.wait_stderr(f'bled:{socket}: ')
    lab.daemons.clear()
    os.unlink(socket)
    again = lab.bled(lab.endpoint)
    os.symlink(again, socket)
    count = len(heard.documents(PEER))
    wait_until(lambda: len(heard.documents(PEER)) > count, 'documents from the next daemon')
    gateway.wait_stderr('works again')
    gateway.ends_well()


def test_shared(bench):
    """without -t, the gateway uses the daemon whose socket JELLING_SOCKET names"""
    lab = Lab('bumble')
    bench.labs.append(lab)
    socket = lab.bled('sim')
    child = bench.run('--print', '--count', '2', environment={'JELLING_SOCKET': socket})
    assert [l['adapter'] for l in child.lines] == [f'bled:{socket}'] * 2, child.lines

"""The image of amd64 with an adapter that the kernel has without hardware."""
import json

from jelling.child import wait_until

# It gets simulated devices, which jelling-gateway hears through bled.
ARCHITECTURE, ADDED, PARAMETERS, HAS_DONGLE = 'amd64', ['simulated-controllers'], 'jelling.vhci=1', False


def test_virtual_adapter(bed):
    """simulated devices behind the kernel's hci_vhci are published, also after the adapter was gone"""
    documents = lambda: [json.loads(payload) for _, payload in bed.messages()]
    wait_until(lambda: any(one['address'].startswith('C0:DE:00') and one['values'] for one in documents()), 'values of a simulated device', 300)
    bed.machine.shell('kill -9 $(pidof simulated-controllers)')
    before = len(documents())
    wait_until(lambda: any(one['address'].startswith('C0:DE:00') for one in documents()[before:]), 'devices of the next adapter', 300)

"""Two adapters of one `bled`: what a central that pairs meets."""
import asyncio

import pytest

from .test_serving import Objects
from jelling.bluez import ADAPTER, DEVICE, HCI0, Ear, Refused

HCI1 = '/org/bluez/hci1'
ADVERTISING, AGENTS = 'org.bluez.LEAdvertisingManager1', ('/org/bluez', 'org.bluez.AgentManager1')
two_adapters = pytest.mark.desk(kinds=['simulator'], peer=False, start=False)


def start(desk):
    desk.socket = desk.bled(desk.endpoint, options=['--adapter', desk.endpoints[1]])
    desk.start_door()


async def advertise(ear):
    """The second adapter advertises; the path of its device at the first one."""
    while not {HCI0, HCI1} <= set(await ear.objects()):
        await asyncio.sleep(0.05)
    Objects(ear)
    await ear.call(HCI1, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
    return f'{HCI0}/dev_{(await ear.get(HCI1, ADAPTER, "Address")).replace(":", "_")}'


async def central(ear):
    """The path of the first adapter's device at the second one."""
    return next(path for path in await ear.objects() if path.startswith(f'{HCI1}/dev_'))


async def pair(ear, device):
    """Pairs; after a failure the engines want a pause."""
    while True:
        try:
            return await ear.call(device, DEVICE, 'Pair')
        except Refused:
            await asyncio.sleep(0.2)


def agent(ear):
    """An agent of NoInputNoOutput; what it was asked."""
    from dbus_fast.service import ServiceInterface, dbus_method
    asked = []

    class Agent(ServiceInterface):
        @dbus_method()
        def RequestAuthorization(self, device: 'o'):
            asked.append(device)

        @dbus_method()
        def Cancel(self):
            pass

        @dbus_method()
        def Release(self):
            pass
    ear.bus.export('/agent', Agent('org.bluez.Agent1'))
    return asked


@two_adapters
@pytest.mark.parametrize('has_agent', [False, True])
def test_not_pairable(desk, has_agent):
    """Pairable set to false refuses a central; set to true, it pairs, and the only agent is asked although it has not asked to be the default"""
    start(desk)

    async def work():
        async with Ear() as ear, Ear() as other:
            device = await advertise(ear)
            asked = agent(other)
            if has_agent:
                await other.call(*AGENTS, 'RegisterAgent', 'os', '/agent', 'NoInputNoOutput')
            await ear.set(HCI1, ADAPTER, 'Pairable', 'b', False)
            await ear.connect(device)
            assert await ear.refused(device, DEVICE, 'Pair') == ('AuthenticationFailed', 'Authentication Failed')
            there = await central(ear)
            assert await ear.get(there, DEVICE, 'Paired') is False and not asked
            await ear.set(HCI1, ADAPTER, 'Pairable', 'b', True)
            await pair(ear, device)
            assert await ear.get(device, DEVICE, 'Paired') is True
            while not await ear.get(there, DEVICE, 'Paired'):
                await asyncio.sleep(0.05)
            assert asked == [there] * has_agent
    desk.go(work())


@two_adapters
def test_a_bond_that_only_the_peripheral_has(desk):
    """The central has removed the device: Pair ends by the peripheral's rule for bonds, at once, also where it follows the peripheral's own
    request; when the bond is removed there, too, it succeeds"""
    start(desk)

    async def work():
        async with Ear() as ear:
            device = await advertise(ear)
            await ear.connect(device)
            await ear.call(device, DEVICE, 'Pair')
            there = await central(ear)
            for connects_first in True, False:
                await ear.call(HCI0, ADAPTER, 'RemoveDevice', 'o', device)
                while await ear.get(there, DEVICE, 'Connected'):
                    await asyncio.sleep(0.05)
                assert await ear.get(there, DEVICE, 'Paired') is True
                await ear.find(device)
                if connects_first:
                    await ear.call(device, DEVICE, 'Connect')
                assert await ear.refused(device, DEVICE, 'Pair') == ('AuthenticationFailed', 'Authentication Failed')
            await ear.call(HCI1, ADAPTER, 'RemoveDevice', 'o', there)
            await pair(ear, device)
            assert await ear.get(device, DEVICE, 'Paired') is True
    desk.go(work())

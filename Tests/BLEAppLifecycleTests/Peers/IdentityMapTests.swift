import BLEPackets
import Testing

@testable import BLEAppLifecycle

@Suite("Identifiers of devices")
struct IdentityMapTests {
    private static func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .random)
    }

    private static func identifier(_ number: Int) -> PeerIdentifier { PeerIdentifier(high: 7, low: UInt64(number)) }

    /// Forgets what is too much.
    /// - Returns: the addresses, in order.
    private func forget(_ map: inout IdentityMap, sparing spared: DeviceAddress? = nil) -> [DeviceAddress] {
        var forgotten: [DeviceAddress] = []
        while let device = map.nextToForget() {
            if device.address == spared {
                map.spare(device.address)
            } else {
                _ = map.forget(device.address)
                forgotten.append(device.address)
            }
        }
        return forgotten
    }

    @Test("twenty apps in a crowd of a thousand devices keep every identifier")
    func crowd() {
        var map = IdentityMap(limit: LifecycleSettings().rememberedDevices)
        for round in 0..<3 {
            for device in 0..<1000 {
                for app in 0..<20 {
                    let expected = Self.identifier(device * 20 + app)
                    if round == 0 {
                        map.insert(expected, Self.address(device), app: app, isKept: false)
                        if map.nextToForget() != nil { Issue.record("device \(device) has no room") }
                    } else if map.use(Self.address(device), app: app) != expected {
                        Issue.record("app \(app) has lost device \(device)")
                    }
                }
            }
        }
        #expect(map.address(of: Self.identifier(19_999), app: 19) == Self.address(999))
        #expect(map.address(of: Self.identifier(19_999), app: 18) == nil)
    }

    @Test("the least recently used device is forgotten, for all apps; used and spared ones stay")
    func order() {
        var map = IdentityMap(limit: 16)
        for number in 0..<16 {
            for app in 0..<2 {
                map.insert(
                    Self.identifier(10 * number + app), Self.address(number), app: app, isKept: false,
                    isWritten: app == 1)
            }
        }
        #expect(forget(&map).isEmpty)
        // 0 is seen again, an app uses 1, and 2 may not be forgotten.
        #expect(map.use(Self.address(0), app: 0) == Self.identifier(0))
        #expect(map.retain(Self.identifier(11), app: 1) && !map.retain(Self.identifier(11), app: 1))
        for number in 16..<19 {
            map.insert(Self.identifier(10 * number), Self.address(number), app: 0, isKept: false)
        }
        #expect(forget(&map, sparing: Self.address(2)) == [Self.address(3), Self.address(4)])
        for number in [0, 1, 2, 5, 18] {
            #expect(map.identifier(of: Self.address(number), app: 0) == Self.identifier(10 * number))
        }
        #expect(map.identifier(of: Self.address(3), app: 1) == nil)
        #expect(map.address(of: Self.identifier(31), app: 1) == nil)
        #expect(map.forget(Self.address(5)) == [IdentityMap.Alias(app: 1, identifier: Self.identifier(51))])
        // A room that was given up is used again.
        map.insert(Self.identifier(3), Self.address(3), app: 1, isKept: false)
        #expect(map.identifier(of: Self.address(3), app: 1) == Self.identifier(3))
        #expect(map.identifier(of: Self.address(3), app: 0) == nil)
    }

    @Test("the identifiers of many apps are bounded, too")
    func manyApps() {
        var map = IdentityMap(limit: 16)
        var forgotten: [DeviceAddress] = []
        for number in 0..<16 {
            for app in 0..<8 {
                map.insert(Self.identifier(8 * number + app), Self.address(number), app: app, isKept: false)
                forgotten += forget(&map)
            }
        }
        // Four for each of 16 devices: eight apps may know eight devices.
        #expect(forgotten == (0..<8).map(Self.address))
        #expect((8..<16).allSatisfy { map.identifier(of: Self.address($0), app: 7) != nil })
        // One device alone is never forgotten, however many know it.
        for app in 0..<100 { map.insert(Self.identifier(1000 + app), Self.address(99), app: app, isKept: false) }
        #expect(forget(&map) == (8..<16).map(Self.address))
        #expect(map.identifier(of: Self.address(99), app: 99) == Self.identifier(1099))
    }

    @Test("an identity takes over the identifiers and names of a private address; its own come first")
    func identity() {
        var map = IdentityMap(limit: 16)
        let (privateAddress, identity) = (DeviceAddress(value: 0x4000_0000_0001, kind: .random), Self.address(1))
        map.setAdvertisedName("Belt", of: privateAddress)
        map.insert(Self.identifier(1), privateAddress, app: 0, isKept: false)
        map.insert(Self.identifier(2), privateAddress, app: 1, isKept: false)
        map.insert(Self.identifier(3), identity, app: 1, isKept: false)
        for app in 0..<2 { #expect(map.rebind(privateAddress, to: identity, app: app) == Self.identifier(app + 1)) }
        #expect(map.rebind(privateAddress, to: identity, app: 2) == nil)
        map.rename(privateAddress, to: identity)
        #expect(map.identifier(of: identity, app: 0) == Self.identifier(1))
        #expect(map.identifier(of: identity, app: 1) == Self.identifier(3))
        #expect(map.address(of: Self.identifier(2), app: 1) == identity)
        #expect(map.identifier(of: privateAddress, app: 0) == nil)
        #expect(map.name(of: identity) == "Belt")
        #expect(map.setDeviceName("Belt 2", of: identity) && !map.setDeviceName("Belt 2", of: identity))
        #expect(map.name(of: identity) == "Belt 2")
    }
}

import BLEHost
import BLEMessages
import BLEPackets
import Foundation
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// What apps send in the overflow area, and who decides it (SPEC 3.6).
@Suite("Requirements: the overflow area of apps")
struct OverflowRequirements {
    let world = World()

    private static let settings: [OverflowSetting] = [.off, .on, .company(0x004C), .company(0xFFFF)]

    @Test(
        "the system, the manifest and the app can each turn it off; an app names its company only where the system leaves it open"
    )
    func owners() {
        for system in Self.settings {
            for manifest in Self.settings {
                for app in Self.settings {
                    let sent = OverflowSetting.emission(system: system, manifest: manifest, app: app)
                    let all = [system, manifest, app]
                    let named = [app, manifest].compactMap { if case .company(let named) = $0 { named } else { nil } }
                    guard case .on(let company) = sent else {
                        var isRefused = all.contains(.off)
                        if case .company(let shared) = system, let first = named.first, first != shared {
                            isRefused = true
                        }
                        #expect(isRefused, "\(all)")
                        continue
                    }
                    #expect(!all.contains(.off), "\(all)")
                    if case .company(let shared) = system {
                        #expect(company == shared && named.first ?? shared == shared, "\(all)")
                    } else {
                        #expect(company == named.first ?? OverflowArea.company, "\(all)")
                    }
                }
            }
        }
    }

    @Test("an owner writes off, on or a company identifier, and nothing else")
    func texts() throws {
        let read: [(String, OverflowSetting?)] = [
            ("off", .off), ("on", .on), ("0xFFFF", .company(0xFFFF)), ("0x4c", .company(0x4C)),
            ("0x0000", .company(0)), ("", nil), ("Off", nil), ("true", nil), ("0x", nil), ("0x10000", nil),
            ("FFFF", nil), ("65535", nil), ("0x+1", nil), ("0x-1", nil), ("0xG", nil), ("on ", nil), ("0x٣", nil),
        ]
        for (text, setting) in read { #expect(OverflowSetting(rawValue: text) == setting, "‘\(text)’") }
        for setting in Self.settings { #expect(OverflowSetting(rawValue: setting.rawValue) == setting) }
        #expect(OverflowSetting.company(0x4C).rawValue == "0x004C")
        let data = try JSONEncoder().encode(Self.settings)
        #expect(try JSONDecoder().decode([OverflowSetting].self, from: data) == Self.settings)
    }

    // MARK: On the air

    private func scanner() -> HostStation {
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest())))
        return remote
    }

    /// What is advertised in the end.
    private func heard(_ remote: HostStation) -> AdvertisingData {
        world.run(for: .seconds(3))
        let advertisement = remote.discoveries.last?.advertisement ?? []
        let scanResponse = remote.discoveries.last?.scanResponse ?? []
        return AdvertisingData(advertisement: advertisement.span.bytes, scanResponse: scanResponse.span.bytes)
    }

    private func advertise(_ manager: TestManager, _ services: [BluetoothUUID]) {
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door", serviceUUIDs: services)))
    }

    private func declare(_ app: TestApp, _ overflow: OverflowSetting) {
        var manifest = AppManifest(app: app.id, backgroundModes: .peripheral)
        manifest.overflow = overflow
        app.station.apps { $0.declare(manifest) }
    }

    @Test("the masks of all apps are one; an app that hashes nothing adds nothing to it (SPEC 3.5 step 7, 3.6)")
    func several() {
        let station = AppStation(world)
        let remote = scanner()
        let services = [Profiles.lock, Profiles.battery, Profiles.heartRate]
        // As in `bled`, whose owner chooses the company for all.
        station.apps { $0.setOverflow(.company(OverflowArea.company), at: world.now) }
        let apps = services.indices.map { TestApp(station, "org.example.app\($0)", modes: .peripheral) }
        let managers = apps.map { $0.peripheral() }
        for (manager, service) in zip(managers, services) { advertise(manager, [service]) }
        for app in apps { app.enterBackground() }
        #expect(heard(remote).overflowArea == OverflowArea(hashing: services))
        declare(apps[1], .off)
        let rest = [services[0], services[2]]
        #expect(heard(remote).overflowArea == OverflowArea(hashing: rest))
        // Another company than that of the one overflow area.
        declare(apps[2], .company(0xFFFF))
        #expect(heard(remote).overflowArea == OverflowArea(hashing: [services[0]]))
        declare(apps[1], .on)
        declare(apps[2], .on)
        #expect(heard(remote).overflowArea == OverflowArea(hashing: services))
        // One in front is seen by everyone, and its bit goes.
        apps[0].enterForeground()
        let data = heard(remote)
        #expect(data.serviceUUIDs == [Profiles.lock] && data.localName == "Door")
        #expect(data.overflowArea == OverflowArea(hashing: Array(services.dropFirst())))
    }

    @Test("the owner of the system turns it off and on, or changes the company, while apps advertise (SPEC 3.6)")
    func systemChanges() {
        let station = AppStation(world)
        let remote = scanner()
        let app = TestApp(station, modes: .peripheral)
        advertise(app.peripheral(), [Profiles.lock])
        app.enterBackground()
        #expect(heard(remote).overflowArea != nil)
        station.apps { $0.setOverflow(.off, at: world.now) }
        _ = heard(remote)
        #expect(remote.discoveries.last?.advertisement == [2, 1, 6])
        station.apps { $0.setOverflow(.company(0xFFFF), at: world.now) }
        _ = heard(remote)
        #expect(remote.discoveries.last?.advertisement.prefix(8) == [2, 1, 6, 20, 0xFF, 0xFF, 0xFF, 1])
        station.apps { $0.setOverflow(.on, at: world.now) }
        #expect(heard(remote).overflowArea == OverflowArea(hashing: [Profiles.lock]))
    }

    @Test(
        "what an app has said goes on without its process and after a restart, until the manager is created again (SPEC SPR-P2, 3.6)",
        arguments: [nil, .off, .company(0xFFFF)] as [OverflowSetting?])
    func preserved(overflow: OverflowSetting?) {
        let options = ManagerOptions(restoreIdentifier: "door", overflow: overflow)
        let wanted: [UInt8] =
            switch overflow {
            case .off: [2, 1, 6]
            case .company: [2, 1, 6, 20, 0xFF, 0xFF, 0xFF, 1] + OverflowArea(hashing: [Profiles.lock]).mask
            case nil, .on: [2, 1, 6, 20, 0xFF, 0x4C, 0, 1] + OverflowArea(hashing: [Profiles.lock]).mask
            }
        let station = AppStation(world)
        let remote = scanner()
        let app = TestApp(station, modes: .peripheral)
        advertise(app.peripheral(options), [Profiles.lock])
        app.enterBackground()
        _ = heard(remote)
        #expect(remote.discoveries.last?.advertisement == wanted)
        app.end(.crashed)
        _ = heard(remote)
        #expect(remote.discoveries.last?.advertisement == wanted)

        // Another machine goes on from the journal, at first without the app.
        let next = World()
        let restarted = AppStation(next, journal: station.journal, seed: 2)
        let other = HostStation.remote(in: next)
        other.submit(.radio(.scan(ScanRequest())))
        next.run(for: .seconds(3))
        #expect(other.discoveries.last?.advertisement == wanted)
        let again = TestApp(restarted, modes: .peripheral, inForeground: false)
        _ = again.peripheral(options)
        next.run(for: .seconds(3))
        #expect(other.discoveries.last?.advertisement == wanted)
        // The next process says something else.
        again.end(.crashed)
        again.launch(inForeground: false)
        _ = again.peripheral(ManagerOptions(restoreIdentifier: "door", overflow: .company(0x1234)))
        next.run(for: .seconds(3))
        #expect(other.discoveries.last?.advertisement.prefix(8) == [2, 1, 6, 20, 0xFF, 0x34, 0x12, 1])
    }

    @Test("a journal and a request without a word about it are read, and mean what is usual (SPEC 3.6)")
    func earlierFiles() throws {
        let plain = AppRequest(.createPeripheral(ManagerOptions()), from: ManagerID(rawValue: 1))
        #expect(!String(decoding: try plain.json(), as: UTF8.self).contains("overflow"))
        #expect(try plain.readBack() == plain)
        var kept = PreservedManager(app: AppID(rawValue: "a"), role: .peripheral, restoreIdentifier: "r")
        #expect(!String(decoding: try JSONEncoder().encode(kept), as: UTF8.self).contains("overflow"))
        kept.overflow = .company(0xFFFF)
        #expect(try JSONDecoder().decode(PreservedManager.self, from: JSONEncoder().encode(kept)) == kept)
        let request = AdvertiseRequest(.packed(localName: nil, serviceUUIDs: []))
        #expect(!String(decoding: try request.json(), as: UTF8.self).contains("overflow"))
    }
}

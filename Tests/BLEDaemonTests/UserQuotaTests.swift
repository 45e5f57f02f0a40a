import BLEAppLifecycle
import BLEHost
import BLEPackets
import Testing

@testable import BLEDaemon

@Suite("What the programs of one user have together")
struct UserQuotaTests {
    @Test("the tools of a user have four times what one may have, whatever their number")
    func together() throws {
        let limits = ClientLimits()
        let most = UserQuota(
            scans: 32, advertisements: 32, services: 256, attributes: 8192, channels: 64, sets: 16, trains: 32)
        let publish = HostCommand.server(.publish(GATTServiceDefinition(uuid: "180D", characteristics: [])))
        let advertise = AdvertiseRequest(.packed(localName: nil, serviceUUIDs: []))
        let parts: [(WritableKeyPath<UserQuota, Int>, HostCommand)] = [
            (\.scans, .radio(.scan(ScanRequest()))), (\.advertisements, .radio(.advertise(advertise))),
            (\.services, publish), (\.attributes, publish),
            (\.sets, .radio(.advertiseSet(AdvertisingSetRequest(data: [2, 1, 6])))),
        ]
        for (part, command) in parts {
            var more = most
            more[keyPath: part] += 1
            let wanted = try #require(UserQuota.Part(of: command))
            #expect(!most.exceeds(limits, in: wanted, for: most))
            #expect(more.exceeds(limits, in: wanted, for: more))
            // Too much of one thing is no reason to refuse another.
            for (_, other) in parts where other != command {
                #expect(!more.exceeds(limits, in: try #require(UserQuota.Part(of: other)), for: more))
            }
        }
    }

    @Test("apps count with the tools of their user, and have four times the managers of one")
    func withApps() throws {
        let limits = ClientLimits()
        var apps = AppUse()
        (apps.managers, apps.scans, apps.services, apps.attributes, apps.channels) = (64, 20, 200, 8000, 60)
        var most = UserQuota(scans: 12, services: 56, attributes: 192, channels: 4)
        most.add(apps)
        let service = LocalService(id: LocalAttributeID(rawValue: 1), uuid: BluetoothUUID(UInt16(0x180D)))
        let peer = PeerIdentifier(high: 1, low: 2)
        let parts: [(WritableKeyPath<AppUse, Int>, ClientRequest)] = [
            (\.managers, .createCentral(ManagerOptions())), (\.managers, .createPeripheral(ManagerOptions())),
            (\.scans, .central(.scan(ScanOptions()))), (\.services, .peripheral(.addService(service))),
            (\.attributes, .peripheral(.addService(service))),
            (\.channels, .peripheral(.publishChannel(isEncrypted: false))),
            (\.channels, .central(.peripheral(peer, .openChannel(psm: 0x80)))),
        ]
        for (part, request) in parts {
            let wanted = try #require(UserQuota.Part(of: request))
            #expect(!most.exceeds(limits, in: wanted, for: most))
            var one = AppUse()
            one[keyPath: part] = 1
            var more = most
            more.add(one)
            #expect(more.exceeds(limits, in: wanted, for: more))
        }
        for request: ClientRequest in [.release, .central(.stopScan), .peripheral(.stopAdvertising)] {
            #expect(UserQuota.Part(of: request) == nil)
        }
    }

    @Test("a program that has none of a part may have one, whatever another program of its user has")
    func first() {
        let limits = ClientLimits()
        let all = UserQuota(
            managers: 65, scans: 33, advertisements: 33, services: 257, attributes: 8192, channels: 65, sets: 17,
            trains: 33)
        let one = UserQuota(
            managers: 1, scans: 1, advertisements: 1, services: 1, attributes: 4, channels: 1, sets: 1, trains: 1)
        let two = UserQuota(
            managers: 2, scans: 2, advertisements: 2, services: 2, attributes: 8, channels: 2, sets: 2, trains: 2)
        for part in [UserQuota.Part.manager, .scan, .advertisement, .set, .train, .service, .channel] {
            #expect(!all.exceeds(limits, in: part, for: one))
            #expect(all.exceeds(limits, in: part, for: two))
        }
        // One service can have many attributes, and there are few for all.
        var crowded = all
        crowded.attributes += 1
        #expect(crowded.exceeds(limits, in: .service, for: one))
    }

    @Test("the last free advertising set is for a user who has none")
    func lastSet() {
        // Of six, one user gets five and another one the last.
        #expect((1...8).map { UserQuota.mayHaveSet(own: $0, all: $0, of: 6) }.count { $0 } == 5)
        #expect(UserQuota.mayHaveSet(own: 1, all: 6, of: 6))
        #expect(!UserQuota.mayHaveSet(own: 2, all: 6, of: 6))
        // A controller that does not say how many it has, or has one, refuses by itself.
        #expect(UserQuota.mayHaveSet(own: 5, all: 50, of: nil))
        #expect(UserQuota.mayHaveSet(own: 1, all: 1, of: 0))
        #expect(!UserQuota.mayHaveSet(own: 2, all: 2, of: 0))
    }
}

import BLEPackets
import Testing

@testable import BLEHost

/// Wrong passkeys in the pairings that users' programs cause, between two hosts.
@Suite("Passkeys that are wrong, by user")
struct PasskeyUsersTests {
    private let guesser = ClientID(rawValue: 1)
    private let other = ClientID(rawValue: 2)

    private func hosts() -> TwoHosts {
        let hosts = TwoHosts(.passkey)
        hosts.engine(.central).apply(.user(ClientUser(1000), guesser))
        hosts.engine(.central).apply(.user(ClientUser(1001), other))
        return hosts
    }

    /// Why a pairing failed; `nil`: it did not.
    /// - Parameter passkey: `nil`: the user types what the other side shows.
    private func failure(_ hosts: TwoHosts, of client: ClientID, passkey: UInt32?) throws -> SecurityFailure? {
        hosts.disconnect()
        #expect(hosts.connect())
        let link = try #require(hosts.link(.central))
        let options = PairingOptions(ioCapability: .keyboardOnly, requiresAuthentication: true, passkey: passkey)
        let result = hosts.engine(.central).result(of: .security(.pair(link, options)), from: client)
        switch result {
        case .success: return nil
        case .failure(.security(let failure)): return failure
        case .failure, nil: throw Unexpected()
        }
    }

    private func isRefusedEarly(_ failure: SecurityFailure?) -> Bool {
        switch failure {
        case .passkeyLocked, .repeatedAttempts: true
        default: false
        }
    }

    private struct Unexpected: Error {}

    @Test("the fixed passkey that one user's failures lock is locked for that user alone, and another one pairs")
    func byUser() throws {
        let hosts = hosts()
        let wrong: UInt32 = 1_000_000 - 1
        var failures: [SecurityFailure?] = []
        while failures.last != .passkeyLocked, failures.count < 40 {
            failures.append(try failure(hosts, of: guesser, passkey: wrong))
            // After the time for which the other side, too, refuses one who has failed.
            hosts.run(for: .seconds(600))
        }
        #expect(failures.last == .passkeyLocked, "\(failures)")
        #expect(failures.count(where: { !isRefusedEarly($0) }) <= 3, "\(failures)")
        // It is tried, and is wrong.
        let others = try failure(hosts, of: other, passkey: wrong)
        #expect(others != nil && !isRefusedEarly(others))
        hosts.run(for: .seconds(600))
        #expect(try failure(hosts, of: guesser, passkey: wrong) == .passkeyLocked)
        hosts.run(for: .seconds(600))
        #expect(try failure(hosts, of: other, passkey: nil) == nil)
        #expect(hosts.bonds(.central).count == 1)
    }
}

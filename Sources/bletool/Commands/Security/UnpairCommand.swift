import ArgumentParser
import BLE
import Glibc

struct UnpairCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Remove the bond with a device, or all bonds of one user of bled.",
        discussion: """
            The device keeps its half of the bond; remove it there as well. Needs no adapter. With -t bled, or if bled is \
            there, it is the bond of bled, with each of its adapters, as ‘bletool bonds’ lists it.

              bletool unpair 24:6F:28:AA:BB:CC
              bletool unpair --user alice
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument("ADDRESS, ADDRESS/random or a name, as ‘bletool bonds’ lists it.") var peer: PeerArgument?
    @Option("Every bond that bled made for this user: a name, or a number.") var user: String?

    func validate() throws {
        guard (peer == nil) != (user == nil) else {
            throw ValidationError("Name a device, or a user with --user.")
        }
    }

    func run(in session: Session) async throws {
        do {
            if let user { return try await removeBonds(of: user, in: session) }
            guard let peer else { return }
            var bonds: [Bond] = []
            try await session.forEachBonds { found, _ in
                // Several adapters may have a bond with one device.
                bonds += found.filter { bond in !bonds.contains { $0.identity == bond.identity } }
            }
            guard let identity = try peer.bond(among: bonds)?.identity, try await session.removeBond(identity) else {
                throw Failure("there is no bond with \(peer.text); see ‘bletool bonds’", code: .noBond)
            }
            report(identity, in: session)
        } catch let error as BondStoreError {
            throw Failure(error)
        }
    }

    private func removeBonds(of user: String, in session: Session) async throws {
        let removed = try await session.removeBonds(ofUser: try Self.number(of: user))
        for identity in removed { report(identity, in: session) }
        if removed.isEmpty { throw Failure("there is no bond of user ‘\(user)’; see ‘bletool bonds’", code: .noBond) }
    }

    private func report(_ identity: DeviceAddress, in session: Session) {
        DatabaseMemory(state: session.state, identity: identity).forget()
        session.console.print(
            [
                "event": "unpaired", "identity": .string(identity.addressText),
                "identityType": .string(identity.kindText),
            ], text: "forgot \(identity.addressText) \(identity.kindText)")
    }

    private static func number(of user: String) throws -> UInt32 {
        if let number = UInt32(user) { return number }
        guard let entry = unsafe getpwnam(user) else {
            throw Failure("there is no user ‘\(user)’; name one, or give the number that ‘bletool bonds’ shows")
        }
        return unsafe entry.pointee.pw_uid
    }
}

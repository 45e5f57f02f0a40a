import BLEPackets
import Testing

@testable import BLEHost

/// The channels of a link that users share.
@Suite("Channels of several users")
struct ChannelShareTests {
    private func client(_ number: Int) -> ClientID { ClientID(rawValue: UInt32(number)) }

    @Test("the clients of one user leave places on a link to another one; operators have all")
    func byUser() {
        var users = ClientUsers()
        for number in 1...5 { users.set(ClientUser(1000), of: client(number)) }
        users.set(ClientUser(1001), of: client(6))
        users.set(ClientUser(0, isOperator: true), of: client(7))
        var signalling = SignallingChannel()
        var count = 0
        for number in 0..<40 where signalling.mayOpen(1, client(1 + number % 5), users) {
            signalling.openChannel(
                0x80, ChannelSettings(), operation: OperationID(rawValue: UInt64(number)),
                client: client(1 + number % 5), at: .zero)
            count += 1
        }
        #expect(count == CreditBasedChannels.channelLimitOfUser)
        #expect(signalling.mayOpen(8, client(6), users) && signalling.mayOpen(5, client(7), users))
        #expect(signalling.mayOpen(1, client(8), users), "no user is known")
        #expect(!signalling.mayOpen(.max / 2, client(6), users))
    }
}

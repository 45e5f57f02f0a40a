import BLEHost

/// Values from acquired sockets on their way to devices.
///
/// What finds no place waits, and its socket is not read meanwhile: so a device that hangs, or a client with many
/// sockets, takes nothing from others.
extension BlueZService {
    /// How many values of one socket may be on their way: a client that writes faster than the link sends waits.
    private static let greatestPendingWrites = 8

    mutating func socketReceived(_ octets: [UInt8], on socket: SocketID) {
        guard let use = sockets[socket], use.kind == .write, let number = devices[use.attribute.device]?.adapter else {
            return
        }
        sockets[socket]?.unsent.append(octets)
        if use.unsent.isEmpty { adapters[number]?.waitingSockets.append(socket) }
        sendWhatWaits(at: number)
        setReading(of: socket)
    }

    /// A value has been sent, or never will be.
    mutating func socketWriteEnded(_ socket: SocketID, _ link: LinkID, at number: Int) {
        let count = adapters[number]?.writesOfLinks[link] ?? 0
        adapters[number]?.writesOfLinks[link] = count > 1 ? count - 1 : nil
        guard let use = sockets[socket] else { return }
        sockets[socket]?.pendingWrites = use.pendingWrites - 1
        setReading(of: socket)
    }

    /// There may be places: sends what waits.
    mutating func sendWhatWaits(at number: Int) {
        while let place = nextWaitingSocket(at: number),
            let socket = adapters[number]?.waitingSockets.remove(at: place)
        {
            send(socket, at: number)
        }
    }

    /// Whose value gets the next place: a socket of the user who has fewest, of these the one that waits longest.
    /// - Returns: its index.
    private func nextWaitingSocket(at number: Int) -> Int? {
        guard let adapter = adapters[number], !adapter.waitingSockets.isEmpty,
            adapter.openCommands < settings.requestsOfAll
        else { return nil }
        var next: (place: Int, count: Int)?
        for (place, socket) in adapter.waitingSockets.enumerated() {
            guard let use = sockets[socket], let link = devices[use.attribute.device]?.link,
                adapter.writesOfLinks[link] ?? 0 < settings.socketWritesOfDevice,
                adapter.socketWrites.hasRoom(for: use.user, isTrusted: clients.isTrusted(user: use.user))
            else { continue }
            let count = adapter.socketWrites.count(of: use.user)
            if next.map({ count < $0.count }) ?? true { next = (place, count) }
        }
        return next?.place
    }

    /// Sends the next value of a socket, which waits at the end of the line for its others.
    private mutating func send(_ socket: SocketID, at number: Int) {
        guard let use = sockets[socket], let octets = use.unsent.first, let device = devices[use.attribute.device],
            let link = device.link, let characteristic = device.database?.characteristic(use.attribute.path)
        else { return }
        sockets[socket]?.unsent.removeFirst()
        sockets[socket]?.pendingWrites += 1
        if use.unsent.count > 1 { adapters[number]?.waitingSockets.append(socket) }
        adapters[number]?.writesOfLinks[link, default: 0] += 1
        let ticket = submit(
            .link(link, .gatt(.writeCommand(characteristic.valueHandle, value: octets))), to: number,
            .socketWrite(socket, link, adapter: number))
        adapters[number]?.socketWrites.take(ticket, for: use.user)
        setReading(of: socket)
    }

    private mutating func setReading(of socket: SocketID) {
        guard let use = sockets[socket] else { return }
        let isPaused = !use.unsent.isEmpty || use.pendingWrites >= Self.greatestPendingWrites
        guard isPaused != use.isPaused else { return }
        sockets[socket]?.isPaused = isPaused
        emit(.setReading(socket, !isPaused))
    }

    /// A socket is closed: what waits has nowhere to go.
    mutating func forgetValues(of socket: SocketID, _ use: SocketUse) {
        guard !use.unsent.isEmpty, let number = devices[use.attribute.device]?.adapter else { return }
        adapters[number]?.waitingSockets.removeAll { $0 == socket }
    }
}

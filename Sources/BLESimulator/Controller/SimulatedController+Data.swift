import BLEPackets

/// ACL data and its credits, in both directions (Core 5.4, Vol 4, Part E, 4.1 and 5.4.2).
extension SimulatedController {
    func receive(data packet: borrowing ACLDataPacket) {
        statistics.dataPacketsFromHost += 1
        guard let position = position(of: packet.connectionHandle) else {
            statistics.dataPacketsWithoutLink += 1
            return
        }
        // An LE host starts a frame with the non-flushable flag only.
        guard packet.boundary == .firstNonFlushable || packet.boundary == .continuing,
            packet.broadcast == .pointToPoint
        else {
            statistics.malformedPackets += 1
            return
        }
        let used = ends.reduce(0) { $0 + $1.usedBuffers }
        guard used < Int(configuration.aclDataCount), packet.data.byteCount <= Int(configuration.aclDataLength) else {
            statistics.bufferOverflows += 1
            if isOn(.dataBufferOverflow) { send(event: DataBufferOverflow(linkType: 0x01)) }
            return
        }
        ends[position].usedBuffers += 1
        if let number = faults.losesMultiplesOf, number > 0,
            (ACLDataPacket.headerLength + packet.data.byteCount) % number == 0
        {
            return
        }
        if let length = faults.losesDataLongerThan, packet.data.byteCount > length {
            return sent(1, on: ends[position].link)
        }
        air.enqueue(
            packet.data.copied(), isStart: packet.boundary.isFirst, from: ends[position].side,
            on: ends[position].link, isHostPacket: true)
    }

    func sent(_ count: Int, on link: AirLink) {
        guard let position = position(of: link) else { return }
        ends[position].usedBuffers = max(0, ends[position].usedBuffers - count)
        guard !faults.keepsCompletedPackets else { return }
        completedPackets += count
        if let limit = faults.stopsCompletedPacketsAfter, completedPackets > limit { return }
        let doubled = faults.overcountsCompletedPackets
        var links = [
            CompletedPackets(
                connectionHandle: ends[position].handle, count: UInt16(clamping: doubled ? 2 * count : count))
        ]
        if doubled { links.append(CompletedPackets(connectionHandle: ConnectionHandle(rawValue: 0x0EFF), count: 1)) }
        send(event: NumberOfCompletedPackets(links: links))
    }

    func received(_ fragment: AirFragment, on link: AirLink) {
        guard let position = position(of: link) else { return }
        let size = max(1, Int(configuration.hostBoundDataLength))
        var rest = fragment.bytes[...]
        var boundary: PacketBoundaryFlag = fragment.isStart ? .first : .continuing
        repeat {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            writer.removeAll()
            ACLDataPacket.encodePacketHeader(
                into: &writer, handle: ends[position].handle, boundary: boundary, length: piece.count)
            writer.write(bytes: Array(piece))
            boundary = .continuing
            sendData(writer.bytes, position)
        } while !rest.isEmpty
    }

    // MARK: Flow control towards the host

    private var isHostFlowControlled: Bool {
        settings.hostBufferCount > 0
            && (settings.hostFlowControl == .aclOnly || settings.hostFlowControl == .both)
    }

    private var hasHostRoom: Bool {
        !isHostFlowControlled || ends.reduce(0) { $0 + $1.packetsAtHost } < settings.hostBufferCount
    }

    private func sendData(_ packet: [UInt8], _ position: Int) {
        guard hasHostRoom, ends[position].waitingForHost.isEmpty else {
            if ends[position].waitingForHost.count < 1024 { ends[position].waitingForHost.append(packet) }
            return
        }
        statistics.dataPacketsToHost += 1
        if isHostFlowControlled { ends[position].packetsAtHost += 1 }
        send(packet: packet)
    }

    func hostNumberOfCompletedPackets(_ command: HostNumberOfCompletedPackets) {
        for report in command.links {
            guard let position = position(of: report.connectionHandle) else { continue }
            ends[position].packetsAtHost = max(0, ends[position].packetsAtHost - Int(report.count))
        }
        flushWaitingData()
    }

    func flushWaitingData() {
        for position in ends.indices {
            while hasHostRoom, let packet = ends[position].waitingForHost.popFirst() {
                statistics.dataPacketsToHost += 1
                if isHostFlowControlled { ends[position].packetsAtHost += 1 }
                send(packet: packet)
            }
        }
    }
}

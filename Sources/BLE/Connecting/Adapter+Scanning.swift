import BLEHost
import BLEPackets

extension Adapter {
    func beginScan(_ request: ScanRequest, source: Scan.Source) -> OperationID? {
        if let ending {
            source.finish(throwing: ending)
            return nil
        }
        let operation = submit(.radio(.scan(request)))
        sequences.scans[operation] = source
        settle()
        return operation
    }

    /// Scans for the given time.
    ///
    ///     for device in try await adapter.scan(for: .seconds(5)) { print(device) }
    /// - Returns: each device once, by its address, with its latest data, in the order of first discovery. Each
    ///   anonymous advertisement counts as a separate device.
    /// - Throws: `BLEError` if scanning is not possible or the adapter is lost.
    nonisolated public func scan(
        for duration: Duration, _ request: ScanRequest = ScanRequest()
    ) async throws -> [Discovery] {
        let scan = Task<Result<[Discovery], BLEError>, Never> {
            var found: [Discovery] = []
            var places: [DeviceAddress: Int] = [:]
            do throws(BLEError) {
                for try await discovery in self.scan(request) {
                    if let address = discovery.address, let place = places[address] {
                        found[place] = discovery
                    } else {
                        if let address = discovery.address { places[address] = found.count }
                        found.append(discovery)
                    }
                }
            } catch {
                return .failure(error)
            }
            return .success(found)
        }
        let timer = Task {
            do { try await self.sleep(for: duration) } catch { return }
            scan.cancel()
        }
        let result = await withTaskCancellationHandler {
            await scan.value
        } onCancel: {
            scan.cancel()
        }
        timer.cancel()
        if Task.isCancelled { throw CancellationError() }
        return try result.get()
    }
}

import BLE
import BLEESPHome
import BLEGateway
import BLEStateFiles
import BLEVirtualTransports
import Glibc

/// What `--check` does besides reading the settings: everything that the start does, but it opens no radio, connects with
/// no broker and creates nothing.
struct SettingsCheck {
    let settings: GatewaySettings
    let stateFolder: String
    let review: SettingsReview

    /// Checks what a reload does not come into force without.
    /// - Parameter old: the settings in force.
    func checkReload(from old: GatewaySettings) {
        checkBroker()
        checkServer()
        if settings.bonds != old.bonds, let bonds = settings.bonds { check(folder: bonds, "bonds") }
    }

    private func checkBroker() {
        guard let broker = settings.broker else { return }
        let security = broker.security
        let areFilesRight = check(
            certificates: [("mqtt.caFile", security?.authorities), ("mqtt.certFile", security?.certificate)],
            key: ("mqtt.keyFile", security?.key))
        guard areFilesRight, !broker.host.isEmpty else { return }
        do throws(MQTTProblem) {
            _ = try MQTTClient(broker, of: settings.gateway, delegate: nil)
        } catch {
            review.add("mqtt", "\(error)")
        }
    }

    /// Checks files for Transport Layer Security.
    /// - Returns: whether they have what they should.
    private func check(certificates: [(key: String, path: String?)], key: (key: String, path: String?)) -> Bool {
        let count = review.problems.count
        let files = certificates.map { ($0.key, $0.path, "CERTIFICATE-----", "certificate") }
        for (key, path, mark, what) in files + [(key.key, key.path, "PRIVATE KEY-----", "private key")] {
            guard let path, let text = text(of: path, key) else { continue }
            if !text.contains(mark) {
                review.add(key, "\(path) has no \(what) in PEM form, -----BEGIN …\(mark)")
            } else if text.contains("ENCRYPTED") {
                review.add(key, "\(path) has a passphrase, which nothing could enter")
            }
        }
        return review.problems.count == count
    }

    private func checkServer() {
        guard let security = settings.http?.security else { return }
        let areFilesRight = check(
            certificates: [("http.clientCAFile", security.clientAuthorities), ("http.certFile", security.certificate)],
            key: ("http.keyFile", security.key))
        guard areFilesRight else { return }
        do throws(SocketProblem) { _ = try security.context() } catch { review.add("http.certFile", error.text) }
    }

    /// Checks what the program does not start without.
    func checkStart() {
        checkBroker()
        checkServer()
        guard let path = settings.esphome?.keyFile, let text = text(of: path, "esphome.keyFile") else { return }
        if NoiseKey(base64: text.utf8) == nil {
            review.add(
                "esphome.keyFile", "\(path) has no key; write 32 octets in Base64, as of ‘openssl rand -base64 32’")
        }
    }

    /// Checks the rest.
    func checkAll() {
        checkStart()
        checkPlaces()
        for (index, adapter) in settings.adapters.enumerated() { check(adapter, "adapters[\(index)]") }
        if let broker = settings.broker {
            if let path = broker.passwordFile { check(password: path, broker) }
            checkFolders()
        }
        if let path = settings.matter?.tokenFile, let text = text(of: path, "matter.tokenFile") {
            do throws(SocketProblem) { _ = try MatterService.token(in: Array(text.utf8)) } catch {
                review.add("matter.tokenFile", "\(path) \(error.text)")
            }
        }
        if let security = settings.matter?.security {
            do throws(SocketProblem) { _ = try TLSContext(authorities: security.authorities) } catch {
                review.add("matter.caFile", error.text)
            }
        }
        if let path = settings.gatt?.tokenFile, let text = text(of: path, "gatt.tokenFile"),
            text.allSatisfy(\.isWhitespace)
        {
            review.add("gatt.tokenFile", "\(path) is empty")
        }
        guard let http = settings.http else { return }
        if let path = http.tokenFile, let text = text(of: path, "http.tokenFile"), text.allSatisfy(\.isWhitespace) {
            review.add("http.tokenFile", "\(path) is empty")
        }
        do throws(SocketProblem) { _ = try ListeningSocket(address: http.host, port: http.port) } catch {
            review.add("http.listen", "\(http.host):\(http.port) cannot be used: \(error.text)")
        }
    }

    private func checkPlaces() {
        guard let esphome = settings.esphome else { return }
        for place in esphome.places {
            do throws(SocketProblem) { _ = try ListeningSocket(address: place.host, port: place.port) } catch {
                review.add("esphome.listen", "\(place) cannot be used: \(error.text)")
            }
        }
        if case .folder(let folder) = esphome.advertising { check(folder: folder, "esphome.advertise") }
    }

    private func check(_ adapter: AdapterSettings, _ key: String) {
        guard let address = try? TransportAddress(adapter.transport) else { return }
        switch address {
        case .simulator(.some), .replay:
            do throws(TransportError) { _ = try VirtualTransports.open(address) } catch {
                review.add(key, error.description)
            }
        default: break
        }
    }

    private func check(password path: String, _ broker: BrokerSettings) {
        do throws(MQTTProblem) {
            if try broker.currentPassword()?.count ?? 0 <= 1 {
                review.add("mqtt.passwordFile", "\(path) has nothing in its first line")
            }
        } catch {
            review.add("mqtt.passwordFile", "\(error)")
        }
    }

    private func checkFolders() {
        let queue = settings.queue
        if !queue.isInMemory {
            check(folder: stateFolder, "state")
            if let path = queue.path { check(file: path, "queue.path") }
        }
        if let bonds = settings.bonds { check(folder: bonds, "bonds") }
    }

    /// A folder that is not there is created at the start.
    private func check(folder path: String, _ key: String) {
        guard unsafe access(path, F_OK) == 0 else { return check(newIn: Self.parent(of: path), key, path) }
        do throws(StateFileError) { _ = try SafeFolder(path: path, isMade: false) } catch {
            return review.add(key, "\(error)")
        }
        if unsafe access(path, R_OK | W_OK | X_OK) != 0 {
            review.add(key, "\(path) cannot be written: \(systemText(errno))")
        }
    }

    private func check(newIn folder: String, _ key: String, _ path: String) {
        if unsafe access(folder, F_OK) != 0, errno == ENOENT, folder != "/", folder != "." {
            return check(newIn: Self.parent(of: folder), key, path)
        }
        guard unsafe access(folder, W_OK | X_OK) != 0 else {
            if Self.kind(of: folder) == S_IFDIR { return }
            return review.add(key, "\(path) cannot be created: \(folder) is no folder")
        }
        review.add(key, "\(path) cannot be created: \(folder): \(systemText(errno))")
    }

    private func check(file path: String, _ key: String) {
        guard let kind = Self.kind(of: path) else {
            let folder = Self.parent(of: path)
            guard unsafe access(folder, W_OK | X_OK) != 0 else { return }
            return review.add(key, "\(path) cannot be created: \(folder): \(systemText(errno))")
        }
        if kind != S_IFREG {
            review.add(key, "\(path) is no file")
        } else if unsafe access(path, R_OK | W_OK) != 0 {
            review.add(key, "\(path) cannot be written: \(systemText(errno))")
        }
    }

    /// The type in the mode of a file; `nil`: there is none.
    private static func kind(of path: String) -> mode_t? {
        var information = stat()
        return unsafe stat(path, &information) == 0 ? information.st_mode & S_IFMT : nil
    }

    private static func parent(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    private func text(of path: String, _ key: String) -> String? {
        do throws(StateFileError) {
            return String(decoding: try InputPlace.read(path, limit: 16 << 20), as: UTF8.self)
        } catch {
            review.add(key, "\(path) \(error.inputCause)")
            return nil
        }
    }
}

import BLEGateway
import FlyingFox
import FlyingSocks
import Foundation
import Logging
import ServiceLifecycle

/// Serves health and metrics over HTTP.
struct StatusServer: Service {
    let settings: HTTPSettings
    let report: StatusReport
    let logger: Logger

    func run() async throws {
        // The address may be in use or not exist yet: the rest of the gateway must not stop for that.
        await cancelWhenGracefulShutdown {
            var lastProblem: String?
            while !Task.isCancelled {
                do {
                    try await serve()
                } catch is CancellationError {
                    return
                } catch {
                    let problem = "\(error)"
                    if problem != lastProblem, !Task.isCancelled {
                        logger.error("cannot serve HTTP on \(settings.host):\(settings.port): \(problem); trying again")
                    }
                    lastProblem = problem
                }
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }

    private func serve() async throws {
        let server: HTTPServer
        if settings.host.contains(":") {
            server = HTTPServer(
                address: try sockaddr_in6.inet6(ip6: settings.host, port: settings.port), logger: .disabled)
        } else {
            server = HTTPServer(
                address: try sockaddr_in.inet(ip4: settings.host, port: settings.port), logger: .disabled)
        }
        await server.appendRoute("GET /health") { request in
            guard isAllowed(request) else { return Self.refusal }
            let (isHealthy, body) = report.health()
            return HTTPResponse(
                statusCode: isHealthy ? .ok : .serviceUnavailable, headers: [.contentType: "application/json"],
                body: Data(body.utf8))
        }
        await server.appendRoute("GET /metrics") { request in
            guard isAllowed(request) else { return Self.refusal }
            return HTTPResponse(
                statusCode: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: Data(await report.metrics().utf8))
        }
        try await server.run()
    }

    private static var refusal: HTTPResponse {
        var headers = HTTPHeaders()
        headers[HTTPHeader("WWW-Authenticate")] = "Bearer"
        return HTTPResponse(statusCode: .unauthorized, headers: headers)
    }

    /// Whether a request has the token, if one is required. The file is read each time, so that the token can be
    /// changed.
    private func isAllowed(_ request: HTTPRequest) -> Bool {
        guard let path = settings.tokenFile else { return true }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        let token = Array("Bearer \(text.trimmingCharacters(in: .whitespacesAndNewlines))".utf8)
        let given = Array((request.headers[.authorization] ?? "").utf8)
        guard token.count > 7, token.count == given.count else { return false }
        // The time of the comparison does not depend on where the tokens differ.
        return zip(token, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

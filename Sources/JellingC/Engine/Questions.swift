// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

/// Writes a question to the crypto provider as C has it; what it points to goes into the arena.
func fill(_ question: inout jelling_question, with source: PendingCryptoRequest, _ arena: inout Arena) {
    unsafe question.id = source.id
    var kind = JELLING_CRYPTO_RANDOM
    switch source.request {
    case .random(let count): unsafe question.count = UInt32(clamping: count)
    case .encrypt(let key, let block):
        kind = JELLING_CRYPTO_ENCRYPT
        unsafe question.key = arena.copy(key)
        unsafe question.data = arena.copy(block)
    case .authenticationCode(let key, let message):
        kind = JELLING_CRYPTO_CMAC
        unsafe question.key = arena.copy(key)
        unsafe question.data = arena.copy(message)
    case .generateKeyPair: kind = JELLING_CRYPTO_KEY_PAIR
    case .sharedSecret(let privateKey, let peer):
        kind = JELLING_CRYPTO_SHARED_SECRET
        unsafe question.data = arena.copy(privateKey)
        unsafe question.public_key = arena.copy(peer.x + peer.y)
    }
    unsafe question.kind = UInt32(clamping: kind)
}

private func answer(
    _ handle: Handle, _ question: UInt64, _ result: CryptoResult?, _ now: Int64
) -> jelling_status {
    unsafe input(handle, now) { engine, now in
        guard Features.pairing else { return JELLING_ERROR_UNSUPPORTED }
        guard let result else { return JELLING_ERROR_ARGUMENT }
        engine.host.answer(question, with: result, at: now)
        return JELLING_OK
    }
}

@c @implementation
public func jelling_next_question(
    _ engine: Handle, _ question: UnsafeMutablePointer<UnsafePointer<jelling_question>?>?
) -> Status {
    unsafe call(engine) { engine in
        guard let question = unsafe question else { return JELLING_ERROR_ARGUMENT }
        unsafe question.pointee = engine.nextQuestion()
        return JELLING_OK
    }
}

@c @implementation
public func jelling_answer(
    _ engine: Handle, _ question: UInt64, _ octets: Octets, _ length: Int, _ now: Int64
) -> Status {
    unsafe answer(engine, question, JellingC.octets(octets, length, limit: 65536).map { .octets($0) }, now)
}

@c @implementation
public func jelling_answer_key_pair(
    _ engine: Handle, _ question: UInt64, _ privateKey: Octets, _ publicKey: Octets, _ now: Int64
) -> Status {
    guard let privateKey = unsafe octets(privateKey, 32, limit: 32), let publicKey = unsafe P256PublicKey(publicKey)
    else { return unsafe answer(engine, question, nil, now) }
    return unsafe answer(engine, question, .keyPair(privateKey: privateKey, publicKey: publicKey), now)
}

@c @implementation
public func jelling_answer_failure(
    _ engine: Handle, _ question: UInt64, _ isInvalidKey: UInt32, _ now: Int64
) -> Status {
    unsafe answer(engine, question, .failure(isInvalidKey != 0 ? .invalidPublicKey : .unavailable), now)
}

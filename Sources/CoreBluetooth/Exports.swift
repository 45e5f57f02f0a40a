// A program that imports this module on Apple's system has both of these.
@_exported import Dispatch
@_exported import Foundation

// On Apple's system, a program that imports this module has both of these.
@_exported import Dispatch
@_exported import Foundation

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Forwarder} from "./Forwarder.sol";

/// @notice Empties deposit addresses into their treasuries. Anybody may call it: the caller pays the gas, and decides
/// only when the treasury gets its money. Not audited.
contract ForwarderFactory {
    /// One token at addresses of one treasury.
    struct Batch {
        address treasury;
        /// The zero address for the network's own coin.
        address token;
        bytes32[] salts;
    }

    /// @dev What one address may use, its deployment included, so that a treasury or token that burns gas stops no other.
    uint256 private constant GAS_PER_ADDRESS = 300_000;
    /// @dev EIP-150 keeps a 64th back. With less gas than this, a call would fail for want of gas instead of its own fault.
    uint256 private constant GAS_NEEDED = (GAS_PER_ADDRESS * 64) / 63 + 10_000;

    address public immutable implementation = address(new Forwarder());

    event Swept(address indexed forwarder, address indexed treasury, address indexed token, uint256 amount);
    event NotSwept(address indexed forwarder, address indexed treasury, address indexed token);

    error OutOfGas();

    /// @notice The deposit address of a treasury and a salt, whether it is deployed or not.
    function addressOf(address treasury, bytes32 salt) public view returns (address) {
        return
            Clones.predictDeterministicAddressWithImmutableArgs(implementation, abi.encodePacked(treasury), salt);
    }

    /// @notice Empties many addresses. One that fails does not stop the others.
    /// @return failures how many failed
    function sweep(Batch[] calldata batches) external returns (uint256 failures) {
        for (uint256 i = 0; i < batches.length; i++) {
            Batch calldata batch = batches[i];
            for (uint256 j = 0; j < batch.salts.length; j++) {
                if (gasleft() < GAS_NEEDED) revert OutOfGas();
                try this.sweepOne{gas: GAS_PER_ADDRESS}(batch.treasury, batch.token, batch.salts[j]) {} catch {
                    failures++;
                    emit NotSwept(addressOf(batch.treasury, batch.salts[j]), batch.treasury, batch.token);
                }
            }
        }
    }

    /// @notice Empties one address. An empty one is not deployed.
    /// @return amount what the treasury was sent
    function sweepOne(address treasury, address token, bytes32 salt) external returns (uint256 amount) {
        address forwarder = addressOf(treasury, salt);
        amount = token == address(0) ? forwarder.balance : IERC20(token).balanceOf(forwarder);
        if (amount == 0) return 0;
        if (forwarder.code.length == 0) {
            Clones.cloneDeterministicWithImmutableArgs(implementation, abi.encodePacked(treasury), salt);
        }
        Forwarder(payable(forwarder)).sweep(token, amount);
        emit Swept(forwarder, treasury, token, amount);
    }
}

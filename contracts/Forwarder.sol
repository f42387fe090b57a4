// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// @notice What the clone at each deposit address runs. It pays to the treasury in the clone's own code, and to nobody else:
/// there is no owner, no storage, and no way to change the treasury. Not audited.
contract Forwarder {
    /// @dev Only the factory may call, so that its events list everything that ever left a deposit address.
    address private immutable factory = msg.sender;

    error OnlyFactory();

    receive() external payable {}

    /// @param token the zero address for the network's own coin
    function sweep(address token, uint256 amount) external {
        if (msg.sender != factory) revert OnlyFactory();
        address treasury = address(bytes20(Clones.fetchCloneArgs(address(this))));
        if (token == address(0)) Address.sendValue(payable(treasury), amount);
        else SafeERC20.safeTransfer(IERC20(token), treasury, amount);
    }
}

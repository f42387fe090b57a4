/** The endpoints of the sandbox, for those who ask what a server has. */
import { sandbox, type Endpoints } from 'crypto-checkout/contract';

/** None where it is off. */
export const sandboxEndpoints = (isOn: boolean): Endpoints => (isOn ? { sandbox } : {});

/** The pages with a conversation. They are one file, with all that shows messages. */
export { ChannelPage } from "./ChannelPage";
export { DmPage } from "./DmPage";
